# Real programs from npm that tests talk to, in the folders below peers/. Sourced after common.sh.

NODE_MIN=20

# Makes sure that there is a node and an npm on the PATH, or ends the program and says what to do.
find_node() {
  node_is_good && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "Node.js is missing: installing it (apt-get install -y nodejs npm)."
    { apt-get install -y nodejs npm || { apt-get update && apt-get install -y nodejs npm; }; } >&2 || true
    node_is_good && return
  fi
  say "The tests talk to real MCP servers, clients and other programs, which run on Node.js $NODE_MIN or newer with npm. Get them with one of:"
  die "  apt-get install nodejs npm, brew install node, or from nodejs.org"
}

node_is_good() {
  local version
  command -v npm >/dev/null && version=$(node --version 2>/dev/null) || return 1
  version=${version#v}
  [ "${version%%.*}" -ge "$NODE_MIN" ]
}

# Installs what the lock file in the folder $1 names, unless that is there already.
install_package() {
  local folder=$ROOT/$1 stamp installed
  stamp=$(cksum <"$folder/package-lock.json")
  installed=$folder/node_modules/.parley-stamp
  [ -r "$installed" ] && [ "$(cat "$installed")" = "$stamp" ] && return
  find_node
  say "Installing what the tests need from npm (once): $1"
  local attempt
  for attempt in 1 2 3; do
    (cd "$folder" && npm ci --silent --no-audit --no-fund --ignore-scripts) >&2 && break
    [ "$attempt" = 3 ] && die "npm could not install $1: see above."
    sleep 5
  done
  printf '%s\n' "$stamp" >"$installed"
}

# Makes sure that there is a Chromium, in which the page is tested, or ends the program and says what to do.
find_chromium() {
  chromium_is_there && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "Chromium is missing: installing it (apt-get install -y chromium)."
    { apt-get install -y chromium || { apt-get update && apt-get install -y chromium; }; } >&2 || true
    chromium_is_there && return
  fi
  say "The web page is tested in a real Chromium, and there is none. Get it with one of:"
  die "  apt-get install chromium, brew install --cask chromium, or set CHROMIUM to the program that you have"
}

chromium_is_there() {
  local program
  for program in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
    [ -n "$program" ] && [ -x "$program" ] && return
  done
  return 1
}

# Makes sure that there is a bubblewrap, which isolates programs. Without it, its tests are skipped
# and say so.
find_bubblewrap() {
  [ -x /usr/bin/bwrap ] && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "bubblewrap is missing: installing it (apt-get install -y bubblewrap)."
    { apt-get install -y bubblewrap || { apt-get update && apt-get install -y bubblewrap; }; } >&2 || true
    [ -x /usr/bin/bwrap ] && return
  fi
  say "There is no bubblewrap, so the tests of this level of isolation are skipped: apt-get install bubblewrap"
}

# Makes sure that there is a PostgreSQL that can make a standby. Without one, the tests use a
# PostgreSQL from Maven, and leave out the standby.
find_postgres() {
  postgres_is_there && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "PostgreSQL is missing: installing it (apt-get install -y postgresql)."
    { apt-get install -y postgresql || { apt-get update && apt-get install -y postgresql; }; } >&2 || true
    postgres_is_there && return
  fi
  say "There is no PostgreSQL with pg_basebackup, so the tests of several servers run without a standby."
  say "Get it with one of: apt-get install postgresql, brew install postgresql"
}

postgres_is_there() {
  local program
  command -v pg_basebackup >/dev/null && command -v initdb >/dev/null && return
  for program in /usr/lib/postgresql/*/bin/pg_basebackup; do
    [ -x "$program" ] && [ -x "$(dirname "$program")/initdb" ] && return
  done
  return 1
}
