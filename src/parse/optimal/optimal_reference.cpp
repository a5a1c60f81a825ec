#include "parse/optimal/optimal_reference.hpp"

namespace hemstitch {

template std::vector<Sequence> parse_optimal(const ParseInput&, const FullLengthCostModel&);
template std::vector<Sequence> parse_optimal_exact(const ParseInput&, const FullLengthCostModel&);

}  // namespace hemstitch
