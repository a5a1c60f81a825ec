# label: once
# What commands take at most, in MB, whatever an input has: many frames, or a dictionary without end.
needs python3
[[ -z $HEMSTITCH_SANITIZE ]] || { echo 'skipped: sanitizers take memory of their own'; exit 77; }
python3 - <<'END'
import gzip, os, random, resource, struct, subprocess, zlib
frame = bytes.fromhex("04224d18604082") + struct.pack("<I", 0x80000001) + b"x" + bytes(4)
count = 200000
files = {"many.lz4": frame * count, "skip.lz4": struct.pack("<II", 0x184D2A50, 0) * count + frame,
         "many.gz": gzip.compress(b"x", 1) * count, "one.lz4": frame}

# One member of some content many times, of which nothing repeats within reach of a match.
def gzip_of(content, times):
    deflate = zlib.compressobj(6, wbits=-15)
    part = deflate.compress(content) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = zlib.crc32(content * times)
    return gzip.compress(b"")[:10] + part * times + b"\3\0" + struct.pack("<II", checksum, len(content) * times % 2**32)
words = random.Random(1).choices([b"%x" % (i ** 5 + 10 ** 9) for i in range(100)], k=200000)
files["text.gz"] = gzip_of(b" ".join(words), 40)
files["bomb.gz"] = gzip.compress(bytes(10 << 20)) * 420
for name, data in files.items():
    with open(name, "wb") as file:
        file.write(data)
# Many sequences in each block, none of which reaches as far back as content repeats.
forms = [b"%x" % (i ** 5 + 10 ** 9) for i in range(100)]
with open("text", "wb") as file:
    file.write(b" ".join(b" ".join(random.Random(i).choices(forms, k=200000)) for i in range(3)) * 7)
subprocess.run(["hemstitch", "--format", "zstd", "-q", "text", "-o", "text.zst"], check=True)
del data, words
files.clear()  # what this process has counts for those that it starts

# A bound in MB, then the command; "< FILE" is read through a pipe.
commands = """
40 -l many.lz4
40 -l many.gz
40 -l skip.lz4
40 -lv many.lz4
40 -l --json many.lz4
40 -l --json many.gz
40 -l - < many.lz4
40 -dc --range -5 --memory 16M many.lz4
40 -dc --range -1 skip.lz4
40 -dc --range -5 many.gz
40 -dc --range -5 - < many.gz
40 -t many.lz4
40 -t many.gz
40 -dc -D /dev/zero one.lz4
40 -dc -D - one.lz4 < many.lz4
40 -c -D - one.lz4 < many.lz4
88 -t --backend cpu -T2 text.gz
136 -t --backend cpu -T4 text.gz
136 -dc --backend cpu -T4 text.gz
136 -t --backend cpu -T4 bomb.gz
25 -t --backend cpu -T4 --memory 12M text.gz
46 -t --backend cpu -T4 --memory 32M text.gz
46 -t --backend cpu -T4 --memory 32M bomb.gz
24 -t --backend cpu -T2 text.zst
30 -t --backend cpu -T4 text.zst
30 -dc --backend cpu -T4 text.zst
20 -t --backend cpu -T4 --memory 12M text.zst
26 -t --backend cpu -T4 --memory 24M text.zst
""".split("\n")
null = os.open("/dev/null", os.O_RDWR)
for line in filter(None, commands):
    bound, *words = line.split()
    name = words[words.index("<") + 1] if "<" in words else None
    command = ["hemstitch"] + (words[:words.index("<")] if name else words)
    read, write = os.pipe() if name else (null, -1)
    child = os.fork()
    if child == 0:
        os.dup2(read, 0), os.dup2(null, 1), os.dup2(null, 2)
        os.closerange(3, 64)
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))  # what grows for ever ends here
        os.execvp(command[0], command)
    if name:
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            try:
                with open(name, "rb") as file:
                    pipe.write(file.read())
            except BrokenPipeError:
                pass
    _, status, usage = os.wait4(child, 0)
    peak = usage.ru_maxrss / 1024
    told = "within" if peak <= int(bound) else f"{peak:.0f} MB, more than"
    print(f"{' '.join(words)}: exit {os.waitstatus_to_exitcode(status)}, {told} {bound} MB")
END
