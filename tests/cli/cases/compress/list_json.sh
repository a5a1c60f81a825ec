# -l --json: an object a line, as the manual describes it.
needs lz4 python3
head -c 100000 /dev/zero | tr '\0' x >same
printf 'no pattern' >odd
text 10000 >dictionary
hemstitch -B64K same
hemstitch --check=content --linked odd
hemstitch -D dictionary odd -o needs.lz4
lz4 -qlc same >legacy.lz4
printf '\x50\x2a\x4d\x18\x03\x00\x00\x00abc' >skippable.lz4
cat same.lz4 skippable.lz4 odd.lz4 >mixed.lz4
printf garbage >>mixed.lz4
cp odd.lz4 $'strange\xff\n.lz4'
status_of hemstitch -l --json mixed.lz4 missing same legacy.lz4 needs.lz4 $'strange\xff\n.lz4' >all
tail -n 1 all
hemstitch -lv --json - <odd.lz4 >>all
hemstitch --json --list -rq . >tree
wc -l <tree
python3 - <<'END_OF_PYTHON'
import json
for line in open("all"):
    if not line.startswith("{"):
        continue
    entry = json.loads(line)
    frames = entry.pop("frames")
    if entry["file"] == "needs.lz4":
        assert type(frames[0]["dictionary_id"]) is int and frames[0]["dictionary_id"] > 0
        frames[0]["dictionary_id"] = "a number"
    assert sum(frame["compressed_bytes"] for frame in frames) == entry["compressed_bytes"]
    assert sum(frame.get("content_bytes", 0) for frame in frames) == entry["content_bytes"]
    assert sum(frame.get("block_count", 0) for frame in frames) == entry["block_count"]
    if entry["file"] != "mixed.lz4":
        for sized in [entry, *frames]:
            sized.pop("compressed_bytes")
    print(entry)
    for frame in frames:
        print("   ", frame)
END_OF_PYTHON
# Zeros between frames are in none.
{ cat legacy.lz4; head -c 100 /dev/zero; cat legacy.lz4; } >padded.lz4
hemstitch -l --json padded.lz4 | grep -o '"offset":[0-9]*' | tail -n 1 | grep -cFx "\"offset\":$(($(stat -c %s legacy.lz4) + 100))"
status_of hemstitch --json same
status_of hemstitch -t --json same.lz4
