# Every round trip is compared: a backend that restores one byte wrongly is caught. Block checksums cover the
# compressed side, so nothing else would notice.
text 20000 >data
HEMSTITCH_FAKE='wrong=2' hemstitch-fake bench --backend fake --seconds 0 -1 -T1 data >out
