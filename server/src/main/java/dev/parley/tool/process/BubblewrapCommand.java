package dev.parley.tool.process;

import dev.parley.tool.process.SandboxView.SandboxMount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The command line of `bwrap`, version 0.8 or newer.
final class BubblewrapCommand {

  static final Path PROGRAM = Path.of("/usr/bin/bwrap");

  private static final String ENV = "/usr/bin/env";

  private BubblewrapCommand() {}

  /// The words that run `words` with this view.
  ///
  /// `--die-with-parent` is not used: it refers to the thread that starts the process, and it would
  /// kill a program that was asked to end.
  static List<String> words(SandboxView view, ProcessIsolation isolation, List<String> words) {
    var all = new ArrayList<String>();
    // Otherwise bubblewrap ends at once when the program is asked to end, and with it the program,
    // which then cannot clean up.
    all.addAll(List.of(ENV, "--ignore-signal=TERM", PROGRAM.toString()));
    all.addAll(List.of("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc"));
    all.addAll(List.of("--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"));
    if (!isolation.network()) {
      all.add("--unshare-net");
    }
    all.addAll(List.of("--proc", "/proc", "--dev", "/dev"));
    // Bubblewrap leaves these writable for a server that runs as root.
    for (var path : SandboxView.READ_ONLY_PROC) {
      all.addAll(List.of("--ro-bind", path.toString(), path.toString()));
    }
    var size = Long.toString(isolation.limits().temporaryBytes());
    for (var mount : view.mounts()) {
      var path = mount.path().toString();
      switch (mount) {
        case SandboxMount.BoundPath bound ->
            all.addAll(
                List.of(
                    bound.writable() ? "--bind" : "--ro-bind", bound.source().toString(), path));
        case SandboxMount.PrivateFolder _ -> {
          if (isolation.limits().temporaryBytes() > 0) {
            all.addAll(List.of("--size", size));
          }
          all.addAll(List.of("--tmpfs", path));
        }
        case SandboxMount.HiddenPath(_, var folder) ->
            all.addAll(
                folder
                    ? List.of("--tmpfs", path, "--remount-ro", path)
                    : List.of("--ro-bind", "/dev/null", path));
      }
    }
    all.addAll(List.of("--remount-ro", "/", "--chdir", view.folder().toString(), "--"));
    all.addAll(List.of(ENV, "--default-signal=TERM"));
    all.addAll(words);
    return all;
  }
}
