# What ./parley, ./check and ./bench share: finding a JDK and Maven, and building what is stale.
# Sourced, with ROOT set to the repository's root. Works with the bash 3.2 of macOS.

JAVA_MIN=25

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# --- the JDK -----------------------------------------------------------------------------------

# Sets JDK_VERSION to the version of the JDK at $1, without starting it; fails if there is none.
jdk_version() {
  local line
  JDK_VERSION=
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      JAVA_VERSION=*)
        line=${line#JAVA_VERSION=}
        line=${line#\"}
        JDK_VERSION=${line%%\"*}
        ;;
    esac
  done <"$1/release"
  [ -n "$JDK_VERSION" ]
}

jdk_is_good() {
  local major
  [ -n "$1" ] && jdk_version "$1" || return 1
  major=${JDK_VERSION%%[!0-9]*}
  [ -n "$major" ] && [ "$major" -ge "$JAVA_MIN" ]
}

# The file that $1 is, after all symbolic links.
real_path() {
  local path=$1 link
  while [ -L "$path" ]; do
    link=$(readlink "$path")
    case $link in
      /*) path=$link ;;
      *) path=$(dirname "$path")/$link ;;
    esac
  done
  printf '%s/%s\n' "$(cd -P "$(dirname "$path")" && pwd)" "$(basename "$path")"
}

# Sets JAVA_HOME and JAVA, or ends the program and says what to do.
find_jdk() {
  local home java
  if jdk_is_good "${JAVA_HOME:-}"; then
    use_jdk "$JAVA_HOME"
    return
  fi
  if java=$(command -v java); then
    home=$(dirname "$(dirname "$(real_path "$java")")")
    if jdk_is_good "$home"; then
      use_jdk "$home"
      return
    fi
  fi
  for home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
    "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/* "$HOME"/.jdks/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "$HOME"/Library/Java/JavaVirtualMachines/*/Contents/Home \
    /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
    /usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
    /home/linuxbrew/.linuxbrew/opt/openjdk*/libexec; do
    if jdk_is_good "$home"; then
      use_jdk "$home"
      return
    fi
  done
  if [ -x /usr/libexec/java_home ] \
    && home=$(/usr/libexec/java_home -v "$JAVA_MIN+" 2>/dev/null) && jdk_is_good "$home"; then
    use_jdk "$home"
    return
  fi
  say "Parley needs a JDK $JAVA_MIN or newer, and there is none in JAVA_HOME, on the PATH, in /usr/lib/jvm,"
  say "in ~/.sdkman or where macOS and Homebrew keep them. Get one with one of:"
  say "  apt-get install openjdk-$JAVA_MIN-jdk       (or temurin-$JAVA_MIN-jdk, from adoptium.net)"
  say "  brew install openjdk@$JAVA_MIN"
  say "  sdk install java $JAVA_MIN-tem              (sdkman.io)"
  die "or set JAVA_HOME to the folder of one that you have."
}

use_jdk() {
  export JAVA_HOME=$1
  JAVA=$JAVA_HOME/bin/java
  jdk_version "$JAVA_HOME"
}

# --- Maven -------------------------------------------------------------------------------------

find_maven() {
  command -v mvn >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "Maven is missing: installing it (apt-get install -y maven)."
    { apt-get install -y maven || { apt-get update && apt-get install -y maven; }; } >&2 || true
    command -v mvn >/dev/null && return
  fi
  say "Parley is built by Maven 3.8 or newer, and there is no mvn on the PATH. Get it with one of:"
  die "  apt-get install maven, brew install maven, sdk install maven"
}

# --- one build at a time -----------------------------------------------------------------------

# Waits for the lock $1, which this process then holds until unlock.
lock() {
  local holder
  LOCK=$1
  mkdir -p "$(dirname "$LOCK")"
  if command -v flock >/dev/null; then
    exec 9>"$LOCK"
    flock -n 9 || {
      say "Waiting for another build ..."
      flock 9
    }
    return
  fi
  LOCK=$LOCK.d
  until mkdir "$LOCK" 2>/dev/null; do
    holder=$(cat "$LOCK/pid" 2>/dev/null || true)
    if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
      # Only one of many waiters succeeds in renaming what a dead one left.
      mv "$LOCK" "$LOCK.dead.$$" 2>/dev/null && rm -rf "$LOCK.dead.$$"
      continue
    fi
    [ -n "${waiting:-}" ] || say "Waiting for another build ..."
    local waiting=yes
    sleep 0.2
  done
  echo $$ >"$LOCK/pid"
  trap unlock EXIT
}

unlock() {
  if [ -d "$LOCK" ]; then
    rm -rf "$LOCK"
    trap - EXIT
  else
    exec 9>&-
  fi
}

# --- building ----------------------------------------------------------------------------------
#
# A build ends up in a folder of its own, run/N, with its jars and its AOT cache. A program that is
# running keeps the files it started with, while the next build makes its own; a file `current`
# names the newest. Builds nobody uses any more are removed by the next one.

# Sets JARS to the class path of module $1, laid out as $2, building it if it is missing or stale.
# The class path is a sorted list of jars: the AOT cache needs it to be the same each time.
ensure_built() {
  local module=$1 name=$2
  MODULE=$module
  HOME_OF_BUILDS=$ROOT/$module/target/$name
  BUILT=$HOME_OF_BUILDS/.built
  find_jdk
  if ! is_fresh; then
    lock "$ROOT/app/target/.lock"
    is_fresh || build "$name"
    unlock
  fi
  JARS=
  local jar LC_ALL=C
  for jar in "$RUN"/*.jar; do
    JARS=${JARS:+$JARS:}$jar
  done
}

# The files that a build is made from.
sources() {
  local folders=(pom.xml) module
  for module in protocol client server offline compat/workflow compat/kagent compat/chat compat/agents compat/openai compat/mcp app benchmarks; do
    [ "$module" = benchmarks ] && [ "$MODULE" != benchmarks ] && continue
    folders+=("$module/pom.xml")
    [ -d "$ROOT/$module/src/main" ] && folders+=("$module/src/main")
  done
  (cd "$ROOT" && find "${folders[@]}" -type f "$@")
}

# What a build depends on, but for the time of change of each file: names, sizes and the JDK.
fingerprint() {
  printf '%s %s\n' "$JAVA_HOME" "$JDK_VERSION"
  sources -exec ls -ln {} + | cksum
}

# Whether there is a build of the sources as they are now; sets RUN to its folder.
is_fresh() {
  local stored
  [ -f "$BUILT" ] && [ -f "$HOME_OF_BUILDS/current" ] || return 1
  RUN=$HOME_OF_BUILDS/run/$(<"$HOME_OF_BUILDS/current")
  [ -d "$RUN" ] || return 1
  stored=$(<"$BUILT")
  [ "$stored" = "$(fingerprint)" ] && [ -z "$(sources -newer "$BUILT" -print)" ]
}

build() {
  local name=$1 log=$HOME_OF_BUILDS/build.log number=1 before
  find_maven
  mkdir -p "$HOME_OF_BUILDS/run"
  rm -f "$BUILT"
  # Taken first: what changes during the build is newer.
  fingerprint >"$BUILT.next"
  rm -rf "$ROOT/$MODULE/target/fast/$name/lib"
  say "Building Parley (JDK $JDK_VERSION) ..."
  if ! run_maven "$log"; then
    tail -n 40 "$log" >&2
    rm -f "$BUILT.next"
    die "The build failed. All of its output: $log"
  fi
  before=$(cat "$HOME_OF_BUILDS/current" 2>/dev/null || true)
  remove_unused "$before"
  while [ -e "$HOME_OF_BUILDS/run/$number" ]; do
    number=$((number + 1))
  done
  RUN=$HOME_OF_BUILDS/run/$number
  mkdir "$RUN"
  cp -p "$ROOT/$MODULE/target/fast/$name/lib"/*.jar "$RUN"
  echo "$number" >"$HOME_OF_BUILDS/current.next"
  mv "$HOME_OF_BUILDS/current.next" "$HOME_OF_BUILDS/current"
  # Keeps its time, that of the build's start.
  mv "$BUILT.next" "$BUILT"
  AFTER_BUILD=yes
}

# Removes the builds that no process was started from, but for $1: someone may just be starting it.
remove_unused() {
  local run
  for run in "$HOME_OF_BUILDS"/run/*; do
    if [ -d "$run" ] && [ "${run##*/}" != "$1" ] && ! in_use "$run/"; then
      rm -rf "$run"
    fi
  done
}

in_use() {
  if [ -r /proc/self/cmdline ]; then
    # Not through a pipe or an argument: grep would find itself.
    grep -qsaF -f <(printf '%s\n' "$1") /proc/[0-9]*/cmdline
  else
    ps -Awwo command= | grep -F -f <(printf '%s\n' "$1") >/dev/null
  fi
}

# Runs Maven on the module and what it needs, with a line per module instead of Maven's many.
run_maven() {
  local log=$1
  (
    cd "$ROOT"
    mvn -B -Dparley.fast -Dstyle.color=never -pl "$MODULE" -am package </dev/null 2>&1 9>&-
  ) | tee "$log" | show_progress
  return "${PIPESTATUS[0]}"
}

show_progress() {
  local line module='' start=0 downloading=''
  while IFS= read -r line; do
    case $line in
      *'] Building '*' ['[0-9]*/[0-9]*']')
        module_done
        module=${line#*Building }
        module=${module%% *}
        start=$(now)
        ;;
      *'] Reactor Summary'*) module_done ;;
      *Downloading\ from*)
        [ -n "$downloading" ] || say "  downloading libraries (once) ..."
        downloading=yes
        ;;
    esac
  done
}

module_done() {
  local tenths
  [ -n "$module" ] || return 0
  tenths=$((($(now) - start) / 100))
  [ "$module" = parley ] || say "$(printf '  %-15s %d.%d s' "$module" $((tenths / 10)) $((tenths % 10)))"
  module=
}

# Milliseconds; whole seconds where bash is old.
now() {
  if [ -n "${EPOCHREALTIME:-}" ]; then
    local micros=${EPOCHREALTIME/[.,]/}
    echo $((micros / 1000))
  else
    echo $((SECONDS * 1000))
  fi
}
