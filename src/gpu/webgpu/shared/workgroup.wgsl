// The number of a workgroup. More workgroups than a dimension allows are dispatched as rows, so the number counts over
// both; numbers at `count` and above have nothing to do. Tests also number from the last to the first, to find results that depend
// on the order of workgroups.
override reverse_workgroups: bool = false;

fn workgroup_number(id: vec3u, size: vec3u, count: u32) -> u32 {
  let number = id.y * size.x + id.x;
  if (reverse_workgroups && number < count) {
    return count - 1u - number;
  }
  return number;
}
