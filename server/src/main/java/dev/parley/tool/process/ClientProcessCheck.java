package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.ProcessInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Determines whether a connection comes from a process that this server started, or from a
/// descendant of one.
///
/// It finds the socket of the client in `/proc/net/tcp` and its holders in `/proc/PID/fd`. Without
/// `/proc` (macOS) this is not possible. Safe for use by many threads.
public final class ClientProcessCheck {

  private static final System.Logger LOG = System.getLogger(ClientProcessCheck.class.getName());
  private static final Path PROC = Path.of("/proc");
  private static final int LOOKS_MAX = 5;
  private static final long SELF = ProcessHandle.current().pid();

  /// The source of a connection.
  public enum ConnectionSource {
    /// Another machine, or a process of this machine that the server did not start.
    OTHER,
    /// This process.
    THIS_PROCESS,
    /// A process that the server started, or a descendant of one.
    CHILD,
    /// This machine, but the process is unknown.
    UNKNOWN,
    /// This system does not provide the information.
    UNSUPPORTED
  }

  /// A connection as the server sees it, or as another server that forwards it. `elsewhere` is true
  /// if the client is known to be on the machine of that other server.
  public record TcpConnection(
      InetSocketAddress remote, InetSocketAddress local, boolean elsewhere) {

    /// A connection to this server.
    public TcpConnection(InetSocketAddress remote, InetSocketAddress local) {
      this(remote, local, false);
    }
  }

  private final Supplier<Set<Long>> children;
  private final boolean all;
  private final boolean supported = supported();

  /// The marker of this process itself, if another server started it: processes with that marker
  /// are not children of this server.
  private final String inherited;

  private final Predicate<String> marks;
  private final @Nullable ClientProcessCheck excluded;

  /// A check for the children of a server, which also recognizes those that may not use it.
  ///
  /// @param all true if every descendant of this process counts as started by the server
  public static ClientProcessCheck of(ManagedProcesses managedProcesses, boolean all) {
    var excluded =
        new ClientProcessCheck(
            managedProcesses::excludedRoots,
            false,
            mark -> managedProcesses.excludedMarkers().contains(mark),
            null);
    return new ClientProcessCheck(managedProcesses::roots, all, _ -> true, excluded);
  }

  /// @param children the processes that this server has started, each of which leads a session
  /// @param all true if every descendant of this process counts as started by the server
  public ClientProcessCheck(Supplier<Set<Long>> children, boolean all) {
    this(children, all, _ -> true, null);
  }

  private ClientProcessCheck(
      Supplier<Set<Long>> children,
      boolean all,
      Predicate<String> marks,
      @Nullable ClientProcessCheck excluded) {
    this.children = children;
    this.all = all;
    this.marks = marks;
    this.excluded = excluded;
    var marker = System.getenv(ManagedProcesses.MARKER);
    this.inherited = marker == null ? "" : ManagedProcesses.MARKER + "=" + marker;
  }

  /// True if this system can find the process of a connection; checked with a connection of this
  /// process.
  public static boolean supported() {
    if (!ProcessTable.linux() || !TcpTable.readable()) {
      return false;
    }
    var here = InetAddress.getLoopbackAddress();
    try (var listener = new ServerSocket(0, 1, here);
        var client = new Socket(here, listener.getLocalPort())) {
      var local = new InetSocketAddress(client.getLocalAddress(), client.getLocalPort());
      var remote = new InetSocketAddress(client.getInetAddress(), client.getPort());
      var row = TcpTable.find(local, remote);
      var self = ProcessTable.find(SELF);
      return row.isPresent() && self.isPresent() && holds(self.get(), "fd", row.get()) == Holds.YES;
    } catch (IOException | UncheckedIOException impossible) {
      LOG.log(
          Level.WARNING,
          "cannot find the process behind a connection, so processes that agents start may approve:"
              + " {0}",
          impossible);
      return false;
    }
  }

  /// True if the connection comes from an isolated program that may not use this server, or if it
  /// may come from one.
  public boolean excludes(TcpConnection tcpConnection) {
    return excluded != null
        && !excluded.children.get().isEmpty()
        && switch (excluded.source(tcpConnection)) {
          case CHILD, UNKNOWN -> true;
          case OTHER, THIS_PROCESS, UNSUPPORTED -> false;
        };
  }

  /// The current source of a connection.
  public ConnectionSource source(TcpConnection tcpConnection) {
    if (tcpConnection.elsewhere()) {
      return ConnectionSource.OTHER;
    }
    if (!supported) {
      return ConnectionSource.UNSUPPORTED;
    }
    try {
      var socket =
          TcpTable.find(/* local= */ tcpConnection.remote(), /* remote= */ tcpConnection.local());
      if (socket.isEmpty() && !ofThisMachine(tcpConnection.remote().getAddress())) {
        return ConnectionSource.OTHER;
      }
      // A closed socket has no process.
      return socket.isEmpty() || socket.get().inode() == 0
          ? ConnectionSource.UNKNOWN
          : source(socket.get());
    } catch (IOException | UncheckedIOException | DirectoryIteratorException unreadable) {
      LOG.log(Level.WARNING, "cannot determine the process of a connection: {0}", unreadable);
      return ConnectionSource.UNKNOWN;
    }
  }

  private static boolean ofThisMachine(InetAddress address) throws SocketException {
    return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
  }

  /// Retries if the holder was not found: a process may pass a socket to another one meanwhile.
  private ConnectionSource source(TcpTable.TcpSocket socket) throws IOException {
    var last = ConnectionSource.UNKNOWN;
    for (var look = 0; look < LOOKS_MAX && last == ConnectionSource.UNKNOWN; look++) {
      last = inspect(socket);
    }
    return last;
  }

  private ConnectionSource inspect(TcpTable.TcpSocket socket) throws IOException {
    var processes = ProcessTable.snapshot();
    var roots = children.get();
    var unreadable = new ArrayList<ProcessInfo>();
    // Children first, and all of them: a socket that a child shares with another process counts as
    // a child's. Then the youngest first, because the client is often a program that was just
    // started.
    var order =
        processes.values().stream()
            .sorted(
                Comparator.comparing(
                        (ProcessInfo processInfo) -> !isDescendant(processInfo, processes, roots))
                    .thenComparing(ProcessInfo::start, Comparator.reverseOrder()))
            .toList();
    for (var processInfo : order) {
      switch (holds(processInfo, "fd", socket)) {
        case YES -> {
          return startedByServer(processInfo, processes)
              ? ConnectionSource.CHILD
              : processInfo.pid() == SELF ? ConnectionSource.THIS_PROCESS : ConnectionSource.OTHER;
        }
        case UNREADABLE -> unreadable.add(processInfo);
        case NO -> {}
      }
    }
    return sourceIfHidden(socket, processes, unreadable);
  }

  /// The source of a socket that no readable process holds; `unreadable` are the processes whose
  /// files cannot be listed.
  private ConnectionSource sourceIfHidden(
      TcpTable.TcpSocket socket, Map<Long, ProcessInfo> processes, List<ProcessInfo> unreadable)
      throws IOException {
    var children =
        processes.values().stream()
            .filter(processInfo -> startedByServer(processInfo, processes))
            .toList();
    var suspects =
        unreadable.stream()
            .filter(processInfo -> users(processInfo).contains(socket.uid()))
            .toList();
    if (children.stream().anyMatch(child -> suspects.contains(child) || mayHide(child, socket))) {
      return ConnectionSource.CHILD;
    }
    var now = ProcessTable.snapshot();
    var before = new HashSet<>(children);
    if (!now.values().stream()
        .filter(processInfo -> startedByServer(processInfo, now))
        .allMatch(before::contains)) {
      // A child started another process, which may hold the socket now.
      return ConnectionSource.UNKNOWN;
    }
    // The files of a person's program may be unreadable, and the processes of another user may not
    // be listed at all.
    return suspects.isEmpty() && socket.uid() == ownUser()
        ? ConnectionSource.UNKNOWN
        : ConnectionSource.OTHER;
  }

  /// True if the process was started by this server, or is a descendant of such a process.
  private boolean startedByServer(ProcessInfo processInfo, Map<Long, ProcessInfo> processes) {
    return isDescendant(processInfo, processes, children.get())
        || ancestors(processInfo, processes).stream()
            .anyMatch(
                one -> ProcessSnapshots.ProcessSnapshot.mark(one).filter(this::isMark).isPresent());
  }

  private boolean isMark(String mark) {
    return !mark.equals(inherited) && marks.test(mark);
  }

  /// True if the process is one of these, a descendant of one, or in the session of one.
  private boolean isDescendant(
      ProcessInfo processInfo, Map<Long, ProcessInfo> processes, Set<Long> roots) {
    return ancestors(processInfo, processes).stream()
        .anyMatch(
            one ->
                roots.contains(one.pid())
                    || roots.contains(one.session())
                    || (all && one.parent() == SELF));
  }

  /// The process and its ancestors, up to this process.
  private static List<ProcessInfo> ancestors(
      ProcessInfo processInfo, Map<Long, ProcessInfo> processes) {
    var seen = new LinkedHashMap<Long, ProcessInfo>();
    for (var one = processInfo;
        one != null && one.pid() != SELF;
        one = processes.get(one.parent())) {
      if (seen.put(one.pid(), one) != null) {
        break;
      }
    }
    return List.copyOf(seen.values());
  }

  private enum Holds {
    YES,
    NO,
    UNREADABLE
  }

  /// Whether one of the files in this `/proc` folder of the process is the socket.
  private static Holds holds(ProcessInfo processInfo, String folder, TcpTable.TcpSocket socket) {
    var name = "socket:[" + socket.inode() + "]";
    try (var files = Files.newDirectoryStream(PROC.resolve(processInfo.pid() + "/" + folder))) {
      for (var file : files) {
        if (target(file).equals(name)) {
          return Holds.YES;
        }
      }
      return Holds.NO;
    } catch (IOException | DirectoryIteratorException unreadable) {
      return ProcessTable.alive(processInfo) ? Holds.UNREADABLE : Holds.NO;
    }
  }

  /// The target of a link in `/proc/PID/fd`; empty if the file was closed meanwhile.
  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException closed) {
      return "";
    }
  }

  /// True if the process may hold the socket without listing it: in a thread with its own file
  /// table, in an io_uring, or in transit through a Unix socket.
  private static boolean mayHide(ProcessInfo child, TcpTable.TcpSocket socket) {
    var home = PROC.resolve(Long.toString(child.pid()));
    try (var threads = Files.newDirectoryStream(home.resolve("task"));
        var files = Files.newDirectoryStream(home.resolve("fd"))) {
      for (var thread : threads) {
        if (holds(child, "task/" + thread.getFileName() + "/fd", socket) == Holds.YES) {
          return true;
        }
      }
      for (var file : files) {
        if (target(file).equals("anon_inode:[io_uring]") || passesFiles(home, file)) {
          return true;
        }
      }
      return false;
    } catch (IOException | DirectoryIteratorException gone) {
      return false;
    }
  }

  /// True if this Unix socket contains files that were not received yet.
  private static boolean passesFiles(Path home, Path file) throws IOException {
    if (!target(file).startsWith("socket:")) {
      return false;
    }
    try (var lines = Files.lines(home.resolve("fdinfo").resolve(file.getFileName()))) {
      return lines.anyMatch(line -> line.startsWith("scm_fds:") && !line.endsWith("\t0"));
    } catch (NoSuchFileException | UncheckedIOException closed) {
      return false;
    }
  }

  private static long ownUser() throws IOException {
    return ((Number) Files.getAttribute(PROC.resolve("self"), "unix:uid")).longValue();
  }

  /// The user ids of the process: real, effective, saved and file system.
  private static Set<Long> users(ProcessInfo processInfo) {
    try (var lines = Files.lines(PROC.resolve(processInfo.pid() + "/status"))) {
      var users = new HashSet<Long>();
      lines
          .filter(line -> line.startsWith("Uid:"))
          .flatMap(line -> List.of(line.substring(4).strip().split("\\s+", -1)).stream())
          .forEach(user -> users.add(Long.parseLong(user)));
      return users;
    } catch (IOException | UncheckedIOException gone) {
      return Set.of();
    }
  }
}
