# label: threads
needs python3
python3 - <<'END'
import random
random.seed(1)
text = b"".join(b"line %d of a file\n" % i for i in range(10000))
with open("data", "wb") as file:
    file.write(bytes(4096 * 10))
    file.write(text[: 4096 * 20])
    file.write(bytes(random.randrange(256) for _ in range(4096 * 5)))
    file.write(b"the end, which is no page")
END
hemstitch pages --backend reference -T 2 --json --svg drawing.svg data >run.json
python3 - <<'END'
import json, xml.dom.minidom
report = json.load(open("run.json"))
print(report["name"], report["pages"], "pages:", report["same_filled"], report["compressed"], report["raw"])
assert sum(report["pages_by_size"]) == report["pages"]
assert report["ratio"] > report["ratio_with_bookkeeping"] > 0
assert report["kept_bytes"] < report["memory_bytes"]
for speed in report["speeds"]:
    assert speed["put_gbps"] > 0 and speed["get_gbps"] > 0
print([(speed["backend"], speed["pages"]) for speed in report["speeds"]])
assert 0 < report["put_microseconds"]["p50"] <= report["put_microseconds"]["p99"]
print(xml.dom.minidom.parse("drawing.svg").documentElement.tagName)
END
# A name may have any bytes, and the drawing is XML nevertheless.
cp data "$(printf 'a\377<&\303\244')"
hemstitch pages --backend cpu --svg drawing.svg a* >table
python3 -c 'import xml.dom.minidom
print(ascii(xml.dom.minidom.parse("drawing.svg").getElementsByTagName("text")[0].firstChild.data))'
hemstitch pages --backend cpu data | head -n 5
hemstitch pages --backend cpu --page 64K --memory 64K data | head -n 1
status_of hemstitch pages 2>&1
status_of hemstitch pages data data 2>&1
status_of hemstitch pages missing 2>&1
status_of hemstitch pages . 2>&1
mkfifo pipe
status_of timeout 60 hemstitch pages pipe 2>&1
status_of hemstitch pages --page 5000 data 2>&1
status_of hemstitch pages --pid 0 2>&1
status_of hemstitch pages --pid 1 data 2>&1
status_of hemstitch pages --backend abacus data 2>&1 | sed "s/auto, cpu.* (/auto, cpu... (/"
status_of hemstitch pages --svg - data 2>&1
printf 'short' >short
status_of hemstitch pages short 2>&1
hemstitch pages --backend cpu data >/dev/full
echo "exit $?"
# A drawing never takes the place of what it is drawn from.
cp data kept
hemstitch pages --backend cpu --svg data data >table
echo "exit $?"
same data kept
# The shell's own memory, where that may be read.
if hemstitch pages --backend cpu --pid $$ >table 2>message; then
  head -n 1 table | sed 's/[0-9]*: [0-9]*/N: N/'
else
  grep -q 'may not be read' message && echo 'process N: N pages of 4096 bytes'
fi
hemstitch pages -h | head -n 1
