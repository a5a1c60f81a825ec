needs python3
text 30000 | tr 1-5 a-e >data
hemstitch analyze data
hemstitch analyze --finder window_index --against hash_chain --json --svg map.svg data >run.json
python3 - <<'END'
import json, xml.dom.minidom
report = json.load(open("run.json"))
size = report["file"]["bytes"]
for finder in report["finders"]:
    assert finder["literals"] + finder["matched_bytes"] == size
    for classes in ("by_distance", "by_length"):
        assert sum(c["matched_bytes"] for c in finder[classes].values()) == finder["matched_bytes"]
    print(finder["finder"], finder["parameters"])
assert sum(report["positions"].values()) == size
print(xml.dom.minidom.parse("map.svg").documentElement.tagName)
END
# A name may have any bytes, and the drawing is XML nevertheless.
cp data "$(printf 'a\377<&\303\244')"
hemstitch analyze --svg map.svg a* >table
python3 -c 'import xml.dom.minidom
print(ascii(xml.dom.minidom.parse("map.svg").getElementsByTagName("text")[0].firstChild.data))'
status_of hemstitch analyze 2>&1
status_of hemstitch analyze data data 2>&1
status_of hemstitch analyze --against brute_force:window_size=0 data 2>&1
for output in /dev/full missing/map.svg; do
  hemstitch analyze --svg "$output" data >table
  echo "exit $?"
done
# A drawing never takes the place of what it is drawn from.
ln -s data same
cp data kept
hemstitch analyze --svg same data
echo "exit $?"
same data kept
status_of hemstitch analyze --svg - data 2>&1
hemstitch analyze -h | head -n 1
