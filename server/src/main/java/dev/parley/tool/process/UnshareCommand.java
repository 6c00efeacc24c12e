package dev.parley.tool.process;

import dev.parley.tool.process.SandboxView.SandboxMount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The command line of `unshare`, with a script that sets up the namespaces and gives up all rights
/// before it executes the program.
final class UnshareCommand {

  static final Path PROGRAM = Path.of("/usr/bin/unshare");

  private static final List<String> DEVICES =
      List.of("null", "zero", "full", "random", "urandom", "tty");

  /// `$1` is the mount point, `$2` the size of private folders, `$3` and `$4` are the folders and
  /// files below it, `$5` a table for `mount`, `$6` what may be written, `$7` the folder of the
  /// program, `$8` whether it has no network. Every mount that is not listed in `$6`, or below an
  /// entry of it that ends with a slash, is made read-only; except a copy of the mount point itself,
  /// in a folder that contains it.
  static final String SETUP =
      """
      root=$1 size=$2 folders=$3 files=$4 table=$5 writable=$6 folder=$7 offline=$8
      shift 8
      path=$PATH
      PATH=/usr/sbin:/usr/bin:/sbin:/bin
      set -f
      IFS='
      '
      fail() { echo "isolation: $1 failed" >&2; exit 125; }
      mount -t tmpfs -o "mode=755,nosuid,nodev,size=$size" parley "$root" || fail "the mount"
      mkdir -p -- $folders || fail mkdir
      for each in $files; do : > "$each" || fail "$each"; done
      printf '%s' "$table" > "$root/.mounts" || fail "the table of mounts"
      mount -a -T "$root/.mounts" || fail "one of the mounts"
      rm "$root/.mounts"
      echo 0 > /proc/sys/user/max_user_namespaces || fail "the limit of namespaces"
      own= copies=
      while IFS=' ' read -r x x device from point options x; do
        [ "$point" != "$root" ] || own=$device
        case $point in "$root"/*) ;; *) continue;; esac
        [ "$device$from" != "$own/" ] || copies="$copies
      $point/"
        for each in $copies; do
          case $point/ in "$each"*) continue 2;; esac
        done
        case $options in ro|ro,*) continue;; esac
        for each in $writable; do
          case $each in
            */) case $point/ in "$each"*) continue 2;; esac ;;
            *) [ "$point" != "$each" ] || continue 2 ;;
          esac
        done
        mount -o remount,bind,ro "$(printf %b "$point")" || fail "a read-only mount"
      done < /proc/self/mountinfo
      [ "$offline" = no ] || ip link set lo up 2>/dev/null || :
      mount -o remount,bind,ro "$root" || fail "the read-only root"
      cd "$root" && pivot_root . . && umount -l . || fail "the change of the root"
      cd "$folder" || fail "the working directory"
      PATH=$path
      exec /usr/bin/setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all \\
        --no-new-privs -- /bin/sh -c '"$@"; exit $?' parley "$@"
      """;

  private UnshareCommand() {}

  /// The words that run `words` with this view; `root` is an existing folder.
  static List<String> words(
      Path root, SandboxView view, ProcessIsolation isolation, List<String> words)
      throws IOException {
    var all = new ArrayList<String>();
    all.add(PROGRAM.toString());
    all.addAll(List.of("--user", "--map-root-user", "--mount", "--propagation", "private"));
    all.addAll(List.of("--pid", "--fork", "--ipc", "--uts", "--cgroup"));
    if (!isolation.network()) {
      all.add("--net");
    }
    var table = new MountTable(root);
    view.mounts().forEach(table::add);
    all.addAll(List.of("--", "/bin/sh", "-c", SETUP, "parley", root.toString()));
    all.add(Long.toString(isolation.limits().temporaryBytes()));
    all.addAll(table.arguments());
    all.add(view.folder().toString());
    all.add(isolation.network() ? "no" : "yes");
    for (var mount : view.mounts()) {
      if (mount.path().toString().indexOf('\n') >= 0) {
        throw new IOException("a path contains a line end: " + mount.path());
      }
    }
    all.addAll(words);
    return all;
  }

  /// The folders, files and mounts of a view, with paths below its mount point.
  private static final class MountTable {

    private final String root;
    private final Set<String> folders = new LinkedHashSet<>();
    private final Set<String> files = new LinkedHashSet<>();
    private final Set<String> writable = new LinkedHashSet<>();
    private final StringBuilder table = new StringBuilder();

    MountTable(Path root) {
      this.root = root.toString();
      for (var name : List.of("/proc", "/dev/shm", "/dev/pts", "/.empty")) {
        folders.add(this.root + name);
      }
      writable.add(escaped(this.root + "/proc/"));
      writable.add(escaped(this.root + "/dev/"));
      line("proc", this.root + "/proc", "proc", "nosuid,nodev,noexec");
      for (var name : SandboxView.READ_ONLY_PROC) {
        line(this.root + name, this.root + name, "none", "bind,ro");
      }
      line(this.root + "/dev/shm", this.root + "/dev/shm", "none", "bind");
      line("devpts", this.root + "/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=620");
      files.add(this.root + "/dev/ptmx");
      line(this.root + "/dev/pts/ptmx", this.root + "/dev/ptmx", "none", "bind");
      DEVICES.forEach(
          name -> {
            files.add(this.root + "/dev/" + name);
            line("/dev/" + name, this.root + "/dev/" + name, "none", "bind");
          });
    }

    void add(SandboxMount mount) {
      var path = root + mount.path();
      switch (mount) {
        case SandboxMount.BoundPath bound -> {
          if (bound.folder()) {
            folders.add(path);
          } else {
            folders.add(root + bound.path().getParent());
            files.add(path);
          }
          if (bound.writable()) {
            writable.add(escaped(path + "/"));
          }
          line(bound.source().toString(), path, "none", bound.writable() ? "rbind" : "rbind,ro");
        }
        case SandboxMount.PrivateFolder _ -> {
          folders.add(path);
          writable.add(escaped(path));
          line(path, path, "none", "bind");
        }
        case SandboxMount.HiddenPath(_, var folder) ->
            line(folder ? root + "/.empty" : "/dev/null", path, "none", "bind,ro");
      }
    }

    List<String> arguments() {
      return List.of(
          String.join("\n", folders),
          String.join("\n", files),
          table.toString(),
          String.join("\n", writable));
    }

    private void line(String source, String path, String type, String options) {
      table
          .append(escaped(source))
          .append(' ')
          .append(escaped(path))
          .append(' ')
          .append(type)
          .append(' ')
          .append(options)
          .append(" 0 0\n");
    }

    /// As in `/etc/fstab` and `/proc/self/mountinfo`.
    private static String escaped(String path) {
      return path.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011");
    }
  }
}
