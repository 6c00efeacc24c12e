package dev.parley.tool.process;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.parley.tool.process.ProcessTable.ProcessInfo;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandleProxies;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Keeps the descendants of children below this process, even when the child that started them has
/// ended.
///
/// Linux passes a process whose parent has ended to the nearest ancestor that is a "child
/// subreaper". This class makes this process one, and therefore also reaps such processes when they
/// end: Java reaps only those that it started itself. One per process, on Linux only.
final class OrphanReaper implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(OrphanReaper.class.getName());
  private static final int PR_SET_CHILD_SUBREAPER = 36;
  private static final int WNOHANG = 1;
  private static final long SELF = ProcessHandle.current().pid();

  /// Java reaps its own processes within milliseconds. A process that ended this long ago is not
  /// one of them.
  private static final Duration COLLECT_AFTER = Duration.ofSeconds(30);

  /// `prctl(2)`.
  public interface Prctl {
    int call(int option, long first, long second, long third, long fourth);
  }

  /// `waitpid(2)`.
  public interface WaitPid {
    int call(int pid, MemorySegment status, int options);
  }

  private final Thread collector;

  /// Linked when it is first needed, because that takes a while. For the collector.
  private @Nullable WaitPid waitPid;

  private OrphanReaper() {
    collector = Thread.ofVirtual().name("parley-orphans").start(this::collect);
  }

  /// Starts to adopt orphans.
  ///
  /// @throws UnsupportedOperationException if this system does not support it
  static OrphanReaper adopt() {
    if (!ProcessTable.linux() || !becomeSubreaper()) {
      throw new UnsupportedOperationException("this system has no child subreapers");
    }
    return new OrphanReaper();
  }

  /// The running adopted processes: children of this process that are not `known`.
  static List<ProcessInfo> adopted(Set<Long> known) {
    return ProcessTable.snapshot().values().stream()
        .filter(processInfo -> processInfo.parent() == SELF && !known.contains(processInfo.pid()))
        .toList();
  }

  private void collect() {
    var before = Set.<ProcessInfo>of();
    try {
      while (true) {
        Thread.sleep(COLLECT_AFTER);
        var ended = ProcessTable.ended(SELF);
        for (var processInfo : ended) {
          if (before.contains(processInfo)) {
            var _ = waitPid().call((int) processInfo.pid(), MemorySegment.NULL, WNOHANG);
          }
        }
        before = ended;
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private WaitPid waitPid() {
    if (waitPid == null) {
      waitPid =
          function(
              WaitPid.class,
              "waitpid",
              FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    }
    return waitPid;
  }

  @Override
  public void close() {
    collector.interrupt();
  }

  private static boolean becomeSubreaper() {
    try {
      var prctl =
          function(
              Prctl.class,
              "prctl",
              FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
              Linker.Option.firstVariadicArg(1));
      return prctl.call(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    } catch (NoSuchElementException | UnsupportedOperationException | IllegalCallerException none) {
      LOG.log(Level.WARNING, "cannot call prctl: {0}", none.getMessage());
      return false;
    }
  }

  @SuppressWarnings("restricted") // This class calls native functions.
  private static <T> T function(
      Class<T> type, String name, FunctionDescriptor form, Linker.Option... options) {
    var linker = Linker.nativeLinker();
    var address = linker.defaultLookup().findOrThrow(name);
    return MethodHandleProxies.asInterfaceInstance(
        type, linker.downcallHandle(address, form, options));
  }
}
