needs python3
python3 "$HEMSTITCH_SOURCE/tests/cli/kills.py" "${HEMSTITCH_KILLS:-12}" 2>counts
