# needs: python3
exec python3 "$PROGRAMS/python.py"
