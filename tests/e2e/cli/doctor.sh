# what the machine has differs; that a kernel was really checked does not
cupel doctor >table
echo "-> $?"
grep -o '^ok  *emulator.*judged' table
tail -1 table
cupel doctor --format json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["works"], [i["state"] for i in d["items"] if i["name"] == "clang"])'
program=$(command -v cupel)
PATH=/nowhere "$program" doctor >table
echo "-> $?"
grep -o '^MISSING  *[a-z]*' table
grep 'apt-get install clang$' table
tail -1 table
try cupel doctor extra
