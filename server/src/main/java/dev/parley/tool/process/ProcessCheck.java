package dev.parley.tool.process;

import dev.parley.tool.process.ProcessTable.Entry;
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
import java.util.function.Supplier;

/// Tells whether a connection comes from a process that this server started, or from one that such a process
/// started.
///
/// Looks up the client's socket in `/proc/net/tcp` and its holders in `/proc/PID/fd`. Where there is no `/proc`
/// (macOS) nothing can be told. Safe for use by many threads.
public final class ProcessCheck {

  private static final System.Logger LOG = System.getLogger(ProcessCheck.class.getName());
  private static final Path PROC = Path.of("/proc");
  private static final int LOOKS_MAX = 5;
  private static final long SELF = ProcessHandle.current().pid();

  /// Where a connection comes from.
  public enum Source {
    /// From another machine, or from a process of this machine that the server did not start.
    ELSEWHERE,
    /// From this very process.
    THIS_PROCESS,
    /// From a process that the server started, or from one that such a process started.
    CHILD,
    /// From this machine, but from which process cannot be told.
    UNKNOWN,
    /// This system does not tell.
    UNSUPPORTED
  }

  /// A connection as the server sees it.
  public record Connection(InetSocketAddress remote, InetSocketAddress local) {}

  private final Supplier<Set<Long>> children;
  private final boolean all;
  private final boolean supported = supported();

  /// The marker that this process was started with itself, if another server started it: that one is not ours.
  private final String inherited;

  /// @param children the processes that this server has started, each of which leads a session
  /// @param all every process below this one counts as started by the server, not only those
  public ProcessCheck(Supplier<Set<Long>> children, boolean all) {
    this.children = children;
    this.all = all;
    var marker = System.getenv(Children.MARKER);
    this.inherited = marker == null ? "" : Children.MARKER + "=" + marker;
  }

  /// True if this system can tell which process a connection belongs to: tried with a connection of our own.
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

  /// Where a connection comes from, as things are now.
  public Source source(Connection connection) {
    if (!supported) {
      return Source.UNSUPPORTED;
    }
    try {
      var socket =
          TcpTable.find(/* local= */ connection.remote(), /* remote= */ connection.local());
      if (socket.isEmpty() && !ofThisMachine(connection.remote().getAddress())) {
        return Source.ELSEWHERE;
      }
      // A socket that is closed already belongs to nobody, so nobody can tell whose it was.
      return socket.isEmpty() || socket.get().inode() == 0 ? Source.UNKNOWN : source(socket.get());
    } catch (IOException | UncheckedIOException | DirectoryIteratorException unreadable) {
      LOG.log(Level.WARNING, "cannot tell which process a connection belongs to: {0}", unreadable);
      return Source.UNKNOWN;
    }
  }

  private static boolean ofThisMachine(InetAddress address) throws SocketException {
    return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
  }

  /// Looks again if the holder was not found: a process may pass a socket on to another while we look.
  private Source source(TcpTable.Row socket) throws IOException {
    var last = Source.UNKNOWN;
    for (var look = 0; look < LOOKS_MAX && last == Source.UNKNOWN; look++) {
      last = look(socket);
    }
    return last;
  }

  private Source look(TcpTable.Row socket) throws IOException {
    var processes = ProcessTable.now();
    var roots = children.get();
    var unreadable = new ArrayList<Entry>();
    // Children first, and all of them: a socket that one of them shares with somebody else is a
    // child's. Then the
    // youngest first, as who asks is often a program that was just started.
    var order =
        processes.values().stream()
            .sorted(
                Comparator.comparing((Entry entry) -> !below(entry, processes, roots))
                    .thenComparing(Entry::start, Comparator.reverseOrder()))
            .toList();
    for (var entry : order) {
      switch (holds(entry, "fd", socket)) {
        case YES -> {
          return ours(entry, processes)
              ? Source.CHILD
              : entry.pid() == SELF ? Source.THIS_PROCESS : Source.ELSEWHERE;
        }
        case UNREADABLE -> unreadable.add(entry);
        case NO -> {}
      }
    }
    return hidden(socket, processes, unreadable);
  }

  /// Where a socket comes from that no process shows: `unreadable` are those that show nothing.
  private Source hidden(TcpTable.Row socket, Map<Long, Entry> processes, List<Entry> unreadable)
      throws IOException {
    var children = processes.values().stream().filter(entry -> ours(entry, processes)).toList();
    var suspects =
        unreadable.stream().filter(entry -> users(entry).contains(socket.uid())).toList();
    if (children.stream().anyMatch(child -> suspects.contains(child) || hides(child, socket))) {
      return Source.CHILD;
    }
    var now = ProcessTable.now();
    var before = new HashSet<>(children);
    if (!now.values().stream().filter(entry -> ours(entry, now)).allMatch(before::contains)) {
      // A child started another one, which may hold the socket now.
      return Source.UNKNOWN;
    }
    // A person's program may show nothing to us, and another user's processes may not even be
    // listed.
    return suspects.isEmpty() && socket.uid() == ownUser() ? Source.UNKNOWN : Source.ELSEWHERE;
  }

  /// True if the process was started by this server, or by a process that was.
  private boolean ours(Entry entry, Map<Long, Entry> processes) {
    return below(entry, processes, children.get())
        || above(entry, processes).stream()
            .anyMatch(one -> Looks.Look.mark(one).filter(this::isMark).isPresent());
  }

  private boolean isMark(String mark) {
    return !mark.equals(inherited);
  }

  /// True if the process descends from one of these, or is in the session of one.
  private boolean below(Entry entry, Map<Long, Entry> processes, Set<Long> roots) {
    return above(entry, processes).stream()
        .anyMatch(
            one ->
                roots.contains(one.pid())
                    || roots.contains(one.session())
                    || (all && one.parent() == SELF));
  }

  /// The process and those that it descends from, up to this one.
  private static List<Entry> above(Entry entry, Map<Long, Entry> processes) {
    var seen = new LinkedHashMap<Long, Entry>();
    for (var one = entry; one != null && one.pid() != SELF; one = processes.get(one.parent())) {
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

  /// Whether one of the files in this folder of the process is the socket.
  private static Holds holds(Entry entry, String folder, TcpTable.Row socket) {
    var name = "socket:[" + socket.inode() + "]";
    try (var files = Files.newDirectoryStream(PROC.resolve(entry.pid() + "/" + folder))) {
      for (var file : files) {
        if (target(file).equals(name)) {
          return Holds.YES;
        }
      }
      return Holds.NO;
    } catch (IOException | DirectoryIteratorException unreadable) {
      return ProcessTable.alive(entry) ? Holds.UNREADABLE : Holds.NO;
    }
  }

  /// What a link of `/proc/PID/fd` leads to; empty if the file was closed meanwhile.
  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException closed) {
      return "";
    }
  }

  /// True if the process may hold the socket in a way that its list of files does not show: in a thread with a list of
  /// its own, in an io_uring, or on its way through a Unix socket.
  private static boolean hides(Entry child, TcpTable.Row socket) {
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

  /// True if files wait in this Unix socket for somebody to receive them.
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

  /// The users that the process runs as: real, effective, saved and of the file system.
  private static Set<Long> users(Entry entry) {
    try (var lines = Files.lines(PROC.resolve(entry.pid() + "/status"))) {
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
