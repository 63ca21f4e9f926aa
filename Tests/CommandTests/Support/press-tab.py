# Runs a shell on a terminal and presses Tab: SETUP (TYPED COMPLETED)... -- SHELL...
# After each TYPED and Tab, COMPLETED must be shown; if it begins with =, the line is run then, and the rest must be the last word
# that the shell makes of it. Waits a minute at most for each.
import fcntl, os, pty, select, struct, sys, termios, time
end = sys.argv.index("--")
setup, pairs, shell = sys.argv[1], sys.argv[2:end], sys.argv[end + 1:]
child, terminal = pty.fork()
if child == 0: os.execvp(shell[0], shell)
# No line is broken.
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 250, 0, 0))
seen = b""
def expect(text):
    global seen
    limit = time.monotonic() + 60
    while text.encode() not in seen:
        if time.monotonic() > limit: sys.exit(f"never: {text} in {seen[-300:]}")
        if select.select([terminal], [], [], 0.2)[0]: seen += os.read(terminal, 65536)
    seen = seen.split(text.encode(), 1)[1]
os.write(terminal, (setup + "; echo rea''dy\r").encode())
expect("ready")
for typed, completed in zip(pairs[::2], pairs[1::2]):
    os.write(terminal, f"replica {typed}\t".encode())
    if completed.startswith("="):
        os.write(terminal, b"\x01printf '<%s>\\n' \r")
        expect(f"<{completed[1:]}>")
        continue
    expect(completed)
    os.write(terminal, b"\x15")
os.write(terminal, b"exit\r")
print("all are completed")
