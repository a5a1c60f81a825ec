needs python3
python3 "$HEMSTITCH_SOURCE/tests/cli/appenders.py" "${HEMSTITCH_APPENDED_FILES:-200}" 2>counts
