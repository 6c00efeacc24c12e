package dev.parley.cluster;

import dev.parley.cluster.Membership.MembershipDependencies;
import dev.parley.cluster.Membership.RoleListener;
import dev.parley.log.BlockLog;
import dev.parley.log.FencedException;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.SimulatedDatabase.Link;
import dev.parley.log.SimulatedStore;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.SimulationScheduler.SimulatedProcess;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A process of a simulated cluster: the membership, and the log while it is active. It changes its
/// role as a server of a cluster does.
final class SimulatedNode {

  private static final Duration FAILED_PAUSE = Duration.ofSeconds(2);

  private final SimulatedProcess process;
  private final Link link;
  private final RandomGenerator random;
  private final Runnable fatal;
  private final LinkedBlockingQueue<RoleChange> changes = new LinkedBlockingQueue<>();
  private final Set<RemoteRequest> requests = new LinkedHashSet<>();
  private final Thread roles;
  private final Membership membership;
  private volatile @Nullable BlockLog log;
  private int running;
  private @Nullable PostgresNode node;

  private sealed interface RoleChange {}

  private record Activate(PostgresNode node) implements RoleChange {}

  private record Deactivate(PostgresNode node) implements RoleChange {}

  private record End() implements RoleChange {}

  /// What a client asks of the log.
  interface LogRequest {
    void run(BlockLog log) throws InterruptedException;
  }

  /// Starts the process. `fatal` is called when it ends by itself.
  SimulatedNode(SimulatedProcess process, Link link, RandomGenerator random, Runnable fatal) {
    this.process = process;
    this.link = link;
    this.random = random;
    this.fatal = fatal;
    this.roles = process.start("parley-roles", this::runRoles);
    this.membership =
        Membership.join(
            new MembershipDependencies(
                new SimulatedNodeTable(link),
                new NodeInfo("http://127.0.0.1:1", "test"),
                process.time(),
                process),
            new RoleQueue());
  }

  SimulatedProcess process() {
    return process;
  }

  Link link() {
    return link;
  }

  /// The log, while this node believes that it is active.
  @Nullable BlockLog log() {
    return log;
  }

  /// True if it works on requests.
  boolean busy() {
    return !process.killed() && running > 0;
  }

  private final class RoleQueue implements RoleListener {
    @Override
    public void activated(PostgresNode activeNode) {
      changes.add(new Activate(activeNode));
    }

    @Override
    public void deactivated(PostgresNode activeNode, String reason, boolean orderly) {
      changes.add(new Deactivate(activeNode));
    }

    @Override
    public void activeChanged() {}

    @Override
    public void failed(Throwable cause) {
      throw new AssertionError("the membership failed", cause);
    }
  }

  private void runRoles() {
    try {
      while (true) {
        switch (changes.take()) {
          case Activate(var activeNode) -> activate(activeNode);
          case Deactivate(var activeNode) -> deactivate(activeNode);
          case End() -> {
            return;
          }
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void activate(PostgresNode activeNode) {
    node = activeNode;
    try {
      log = SimulatedStore.open(link, activeNode, random, (_, cause) -> failed(activeNode, cause));
    } catch (Rejection.Unavailable failed) {
      node = null;
      membership.resign(activeNode, FAILED_PAUSE);
    }
  }

  private void failed(PostgresNode activeNode, Throwable cause) {
    if (cause.getCause() instanceof FencedException) {
      changes.add(new Deactivate(activeNode));
    } else {
      fatal.run();
    }
  }

  private void deactivate(PostgresNode activeNode) {
    var open = log;
    if (activeNode.equals(node) && open != null) {
      closeLog(open);
      membership.resign(activeNode, Duration.ZERO);
    }
  }

  private void closeLog(BlockLog open) {
    log = null;
    node = null;
    open.close();
  }

  /// Stops in order, and calls `stopped` at the end.
  void stop(Runnable stopped) {
    process.start(
        "stop",
        () -> {
          membership.stopTakingOver();
          changes.add(new End());
          try {
            roles.join();
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
          }
          var open = log;
          if (open != null) {
            closeLog(open);
          }
          membership.close();
          stopped.run();
        });
  }

  /// Ends the process at once. Its clients notice that their connections are closed.
  void kill() {
    process.kill();
    link.processEnded();
    List.copyOf(requests).forEach(RemoteRequest::end);
  }

  /// Runs a request on a thread of this process, and waits for it: at most for `patience`, on the
  /// clock of `client`. The outcome is unknown if that is exceeded or if the process ends.
  void call(SimulatedProcess client, Duration patience, LogRequest request) {
    var open = log;
    if (open == null) {
      return;
    }
    var remote = new RemoteRequest(Thread.currentThread());
    requests.add(remote);
    process.start(
        "request",
        () -> {
          running++;
          try {
            request.run(open);
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
          } finally {
            running--;
          }
          remote.end();
        });
    var time = client.time();
    var deadline = time.deadline(patience);
    while (!remote.ended && time.remaining(deadline) > 0) {
      time.parkUntil(remote, deadline);
    }
    requests.remove(remote);
  }

  @Override
  public String toString() {
    return "node %d (%s), which sees %s"
        .formatted(
            membership.id(),
            process.killed() ? "killed" : log == null ? "standby" : "active",
            membership.nodes());
  }

  private static final class RemoteRequest {
    private final Thread client;
    private boolean ended;

    RemoteRequest(Thread client) {
      this.client = client;
    }

    void end() {
      ended = true;
      LockSupport.unpark(client);
    }
  }
}
