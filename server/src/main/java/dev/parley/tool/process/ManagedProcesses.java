package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.ProcessInfo;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Starts child processes and ensures that none outlives this server.
///
/// Each child has a small file in a folder while it lives. The child writes the file itself before
/// it executes the program. If the server is killed before the file exists, the child detects that
/// its parent has changed and ends. So at the next start the folder lists all processes that were
/// left behind. A file also contains the identity of its folder: in a copy of the folder, the files
/// are not valid. Safe for use by many threads; one server at a time uses a folder.
public final class ManagedProcesses implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(ManagedProcesses.class.getName());

  /// The environment variable of a child, and of all processes that it starts, by which they are
  /// found.
  public static final String MARKER = "PARLEY_CHILD";

  private static final Path SHELL = Path.of("/bin/sh");

  /// A marker that no process has.
  private static final String NONE = "";

  private static final ProcessInfo NO_PROCESS = new ProcessInfo(-1, -1, -1, -1);

  /// The script that a child runs first: `$1` is its file, `$2` the id of this process, `$3` and
  /// `$4` the key of the folder. The 22nd field of `stat` is the start time, the 4th is the current
  /// parent.
  static final String PRELUDE =
      """
      file=$1 parent=$2 key=$3 path=$4 start=- boot=-
      shift 4
      if [ -r /proc/self/stat ]; then
        read -r x x x x x x x x x x x x x x x x x x x x x start x < /proc/self/stat
      fi
      if [ -r /proc/sys/kernel/random/boot_id ]; then
        read -r boot < /proc/sys/kernel/random/boot_id
      fi
      (umask 077; printf '%s\\n' "$$ $start $boot $key" "$path" > "$file") || exit 125
      if [ -r /proc/self/stat ]; then
        read -r x x x now x < /proc/self/stat
        [ "$now" = "$parent" ] || exit 125
      else
        kill -0 "$parent" 2>/dev/null || exit 125
      fi
      exec "$@"
      """;

  private final Path folder;
  private final Supplier<String> ids;
  private final Map<String, ManagedProcess> open = new ConcurrentHashMap<>();
  private final ProcessSnapshots processSnapshots = new ProcessSnapshots();
  private final Sandbox sandbox;
  private final @Nullable OrphanReaper orphanReaper;

  /// Children without isolation. `folder` is created when it is first needed; `ids` supplies new
  /// ids that are valid file names.
  public ManagedProcesses(Path folder, Supplier<String> ids) {
    this(folder, ids, Sandbox.none());
  }

  /// Children that run in `sandbox`.
  public ManagedProcesses(Path folder, Supplier<String> ids, Sandbox sandbox) {
    this(folder, ids, sandbox, null);
  }

  private ManagedProcesses(
      Path folder, Supplier<String> ids, Sandbox sandbox, @Nullable OrphanReaper orphanReaper) {
    this.folder = folder.toAbsolutePath();
    this.ids = ids;
    this.sandbox = sandbox;
    this.orphanReaper = orphanReaper;
  }

  /// Children of a server that starts no other processes. Where the system supports it, orphaned
  /// descendants become children of this process, and end with it.
  public static ManagedProcesses adopting(Path folder, Supplier<String> ids, Sandbox sandbox) {
    try {
      return new ManagedProcesses(folder, ids, sandbox, OrphanReaper.adopt());
    } catch (UnsupportedOperationException unsupported) {
      LOG.log(
          Level.WARNING,
          "{0}: a process that leaves the tree of its agent is treated as a person''s process",
          unsupported.getMessage());
      return new ManagedProcesses(folder, ids, sandbox);
    }
  }

  /// The sandbox in which the children run.
  public Sandbox sandbox() {
    return sandbox;
  }

  /// The markers of the children that can reach this server over the network and may not use it.
  Set<String> excludedMarkers() {
    return open.values().stream()
        .filter(ManagedProcess::excluded)
        .map(child -> child.tree().marker())
        .collect(Collectors.toUnmodifiableSet());
  }

  /// The ids of the processes of those children.
  Set<Long> excludedRoots() {
    return open.values().stream()
        .filter(ManagedProcess::excluded)
        .map(ManagedProcess::pid)
        .collect(Collectors.toUnmodifiableSet());
  }

  /// The ids of the processes that were started and may still have running descendants. Each leads
  /// its own session.
  public Set<Long> roots() {
    return open.values().stream().map(ManagedProcess::pid).collect(Collectors.toUnmodifiableSet());
  }

  /// Starts a program.
  ///
  /// @throws IOException if it cannot be started; a missing program ends with exit code 127 instead
  public ManagedProcess start(ProcessCommand processCommand) throws IOException {
    prepare();
    var id = ids.get();
    var file = folder.resolve(id);
    var builder = new ProcessBuilder(words(file, sandbox.words(processCommand.program(), id)));
    builder.directory(processCommand.folder().toFile());
    builder.environment().clear();
    builder.environment().putAll(processCommand.environment());
    builder.environment().put(MARKER, id);
    switch (processCommand.streams()) {
      case OUTPUT_ONLY -> {
        builder.redirectInput(Path.of("/dev/null").toFile());
        builder.redirectErrorStream(true);
      }
      case ALL -> {}
    }
    Process process;
    try {
      process = builder.start();
    } catch (IOException unstartable) {
      sandbox.remove(id);
      throw unstartable;
    }
    var pid = process.pid();
    // A process that has already ended is found only by its marker and its session.
    var root = ProcessTable.find(pid).orElseGet(() -> new ProcessInfo(pid, 0, pid, -1));
    var managedProcess =
        new ManagedProcess(
            process,
            new ProcessTree(root, marker(id)),
            sandbox.excludes(processCommand.isolation()),
            processSnapshots,
            () -> forget(id));
    open.put(id, managedProcess);
    return managedProcess;
  }

  /// Stops the processes that an earlier server left behind, and returns the number of process
  /// trees.
  public int endLeftovers() {
    var leftovers = new ArrayList<ProcessTree>();
    var files = files();
    for (var file : files) {
      leftover(file).ifPresent(leftovers::add);
    }
    if (!leftovers.isEmpty()) {
      var processSnapshot = processSnapshots.now();
      leftovers.removeIf(tree -> tree.members(processSnapshot).isEmpty());
    }
    if (ProcessTree.end(leftovers, processSnapshots)) {
      files.forEach(file -> forget(file.getFileName().toString()));
    }
    return leftovers.size();
  }

  /// Stops all children.
  @Override
  public void close() {
    var last = Map.copyOf(open);
    if (ProcessTree.end(
        last.values().stream().map(ManagedProcess::tree).toList(), processSnapshots)) {
      last.keySet().forEach(this::forget);
    }
    if (orphanReaper != null) {
      orphanReaper.close();
      var left =
          OrphanReaper.adopted(roots()).stream()
              .map(processInfo -> new ProcessTree(processInfo, NONE));
      ProcessTree.end(left.toList(), processSnapshots);
    }
  }

  private void prepare() throws IOException {
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(folder);
      if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
      }
    }
  }

  private List<String> words(Path file, List<String> words) throws IOException {
    var all = new ArrayList<String>();
    // A new session: without a terminal, and with an id that all its processes share.
    Stream.of("/usr/bin/setsid", "/bin/setsid")
        .filter(setsid -> Files.isExecutable(Path.of(setsid)))
        .findFirst()
        .ifPresent(all::add);
    var self = Long.toString(ProcessHandle.current().pid());
    var key = FolderKey.of(folder);
    all.addAll(List.of(SHELL.toString(), "-c", PRELUDE, "parley", file.toString(), self));
    all.addAll(List.of(key.file(), key.path()));
    all.addAll(words);
    return all;
  }

  private List<Path> files() {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (var files = Files.list(folder)) {
      return files.filter(file -> !open.containsKey(file.getFileName().toString())).toList();
    } catch (IOException unreadable) {
      LOG.log(Level.WARNING, "cannot list the process files in {0}: {1}", folder, unreadable);
      return List.of();
    }
  }

  /// The process tree that a file describes, if it may still exist.
  private Optional<ProcessTree> leftover(Path file) {
    try {
      var lines = Files.readString(file).split("\n", 2);
      var words = lines[0].strip().split(" ", -1);
      if (lines.length != 2
          || words.length != 4
          || !FolderKey.of(folder).matches(new FolderKey(words[3], lines[1].stripTrailing()))) {
        return Optional.empty();
      }
      var pid = Long.parseLong(words[0]);
      var marker = marker(file.getFileName().toString());
      if (ProcessTable.linux()) {
        var root = new ProcessInfo(pid, 0, pid, Long.parseLong(words[1]));
        // After its end another process may have its id, also as a session.
        return words[2].equals(ProcessTable.bootId())
            ? Optional.of(new ProcessTree(ProcessTable.alive(root) ? root : NO_PROCESS, marker))
            : Optional.empty();
      }
      // The process wrote the file itself, so another process with its id started later.
      var written = Files.getLastModifiedTime(file).toMillis();
      return ProcessTable.find(pid)
          .filter(processInfo -> processInfo.start() <= written)
          .map(processInfo -> new ProcessTree(processInfo, marker));
    } catch (IOException | NumberFormatException unreadable) {
      return Optional.empty();
    }
  }

  private static String marker(String id) {
    return MARKER + "=" + id;
  }

  private void forget(String id) {
    try {
      Files.deleteIfExists(folder.resolve(id));
    } catch (IOException useless) {
      LOG.log(Level.DEBUG, "cannot delete {0}: {1}", id, useless);
    }
    sandbox.remove(id);
    open.remove(id);
  }

  /// A program to run: its words, its folder, its complete environment, how its streams are
  /// connected, and what it may use if it is isolated.
  public record ProcessCommand(
      List<String> words,
      Path folder,
      Map<String, String> environment,
      ProcessStreams streams,
      ProcessIsolation isolation) {

    /// A program that may use the least if it is isolated: the folder in which it starts.
    public ProcessCommand(
        List<String> words, Path folder, Map<String, String> environment, ProcessStreams streams) {
      this(words, folder, environment, streams, ProcessIsolation.COMMANDS);
    }

    public ProcessCommand {
      words = List.copyOf(words);
      environment = Map.copyOf(environment);
      if (words.isEmpty()) {
        throw new IllegalArgumentException("a command needs at least one word");
      }
    }

    private SandboxedProgram program() {
      return new SandboxedProgram(words, folder, environment, isolation);
    }

    /// How the input, output and errors of a child are connected.
    public enum ProcessStreams {
      /// No input; errors are merged with the output, in order.
      OUTPUT_ONLY,
      /// Separate input, output and errors.
      ALL
    }
  }

  /// Identifies a folder on this machine, also in contrast to a copy of it.
  ///
  /// @param file the device and the inode of the folder, or `-` if the file system has none
  /// @param path its real path
  public record FolderKey(String file, String path) {

    private static final String UNKNOWN = "-";

    /// The key of a folder that exists.
    public static FolderKey of(Path folder) throws IOException {
      var real = folder.toRealPath();
      var key = Files.readAttributes(real, BasicFileAttributes.class).fileKey();
      return new FolderKey(
          key == null ? UNKNOWN : key.toString().replaceAll("[\\s()]", ""), real.toString());
    }

    /// True if both identify the same folder, which may have been moved in between.
    public boolean matches(FolderKey other) {
      if (file.equals(UNKNOWN) || other.file.equals(UNKNOWN)) {
        return path.equals(other.path);
      }
      return file.equals(other.file);
    }
  }
}
