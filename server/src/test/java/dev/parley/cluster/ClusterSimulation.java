package dev.parley.cluster;

import dev.parley.cluster.HistoryChecker.FinalLog;
import dev.parley.cluster.HistoryChecker.SeenEntry;
import dev.parley.cluster.SimulationPlan.ClientRequest;
import dev.parley.cluster.SimulationPlan.CrashDatabase;
import dev.parley.cluster.SimulationPlan.DrainActive;
import dev.parley.cluster.SimulationPlan.EndConnections;
import dev.parley.cluster.SimulationPlan.FailCommit;
import dev.parley.cluster.SimulationPlan.FailOver;
import dev.parley.cluster.SimulationPlan.Fault;
import dev.parley.cluster.SimulationPlan.KillNode;
import dev.parley.cluster.SimulationPlan.PartitionNode;
import dev.parley.cluster.SimulationPlan.PauseStandby;
import dev.parley.cluster.SimulationPlan.StopNode;
import dev.parley.cluster.SimulationPlan.SuspendNode;
import dev.parley.log.AppendGuard;
import dev.parley.log.BlockLog;
import dev.parley.log.Decision;
import dev.parley.log.SimulatedDatabase;
import dev.parley.log.SimulatedDatabase.Protection;
import dev.parley.log.SimulatedNodes;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.SimulationScheduler;
import dev.parley.runtime.SimulationScheduler.SimulatedProcess;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/// Runs a plan: several nodes on one simulated database, clients, and faults. After the faults,
/// everything must continue; then the history is checked.
final class ClusterSimulation {

  private static final long STEPS_MAX = 3_000_000;
  private static final Duration REQUEST_MAX = Duration.ofSeconds(10);
  private static final int DRAIN_MILLIS = 2_000;
  private static final int FINAL_PAGE = 7;

  /// How long it may take after the last fault until all contexts can be written.
  private static final Duration RECOVERY_MAX = Duration.ofMinutes(2);

  private final SimulationPlan plan;
  private final SimulationScheduler scheduler;
  private final Random random;
  private final SimulatedDatabase database;
  private final SimulatedProcess process;
  private final SimulatedNode[] nodes;
  private final SimulatedClients clients;
  private final List<String> problems = new ArrayList<>();
  private final HashMap<String, List<SeenEntry>> finalContexts = new HashMap<>();
  private final HashSet<String> finalDeleted = new HashSet<>();
  private boolean done;

  /// The violations, and what identifies the run.
  record SimulationResult(
      List<String> violations, long fingerprint, long steps, int facts, Duration duration) {}

  private ClusterSimulation(long seed, SimulationPlan plan, Set<Protection> protections) {
    this.plan = plan;
    this.scheduler = new SimulationScheduler(seed);
    this.random = scheduler.random();
    this.database = new SimulatedDatabase(scheduler, protections);
    this.process = scheduler.process("client", 1);
    this.nodes = new SimulatedNode[plan.nodes()];
    this.clients = new SimulatedClients(process, random, nodes);
  }

  /// Runs `plan` with the order of threads and the delays of `seed`.
  static SimulationResult run(long seed, SimulationPlan plan, Set<Protection> protections) {
    return new ClusterSimulation(seed, plan, protections).run();
  }

  private SimulationResult run() {
    IntStream.range(0, nodes.length).forEach(this::startNode);
    for (var step : plan.steps()) {
      scheduler.after(
          Duration.ofMillis(step.atMillis()),
          () -> {
            switch (step.action()) {
              case Fault fault -> inject(fault);
              case ClientRequest request -> process.start("client", () -> clients.run(request));
            }
          });
    }
    scheduler.after(plan.duration().plus(SimulatedClients.PAUSE), this::endFaults);
    if (!scheduler.run(() -> done || clients.damage() != null, STEPS_MAX) && problems.isEmpty()) {
      var failure = scheduler.failure();
      problems.add(failure == null ? "the run does not end" : stackTrace(failure));
    }
    var damage = clients.damage();
    if (damage != null) {
      problems.add(stackTrace(damage));
    }
    var violations = new ArrayList<>(problems);
    if (problems.isEmpty()) {
      violations.addAll(
          HistoryChecker.check(clients.facts(), new FinalLog(finalContexts, finalDeleted)));
    }
    return new SimulationResult(
        violations,
        scheduler.fingerprint(),
        scheduler.steps(),
        clients.facts().size(),
        scheduler.now());
  }

  private static String stackTrace(Throwable failure) {
    var text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  // Faults.

  private void startNode(int index) {
    var process = scheduler.process("node" + index, 0.9 + 0.2 * random.nextDouble());
    nodes[index] =
        new SimulatedNode(
            process, database.link(process), random, () -> endProcess(index, process));
  }

  private void endProcess(int index, SimulatedProcess process) {
    scheduler.after(
        Duration.ZERO,
        () -> {
          if (!process.killed()) {
            nodes[index].kill();
            startNode(index);
          }
        });
  }

  private void inject(Fault fault) {
    switch (fault) {
      case KillNode(var node, var millis) -> {
        var index = indexOf(node);
        nodes[index].kill();
        startLater(index, millis);
      }
      case StopNode(var node, var millis) -> stopNode(indexOf(node), millis);
      case SuspendNode(var node, var millis) -> {
        var process = nodes[indexOf(node)].process();
        process.suspend();
        after(millis, process::resume);
      }
      case PartitionNode(var node, var millis) -> {
        var link = nodes[indexOf(node)].link();
        link.partition();
        after(millis, link::heal);
      }
      case FailCommit(var node, var commitFault) ->
          nodes[indexOf(node)].link().failNextCommit(commitFault);
      case DrainActive() -> {
        var index = indexOf(nodes.length);
        process.start("administrator", this::drain);
        after(DRAIN_MILLIS, () -> stopNode(index, DRAIN_MILLIS));
      }
      case CrashDatabase(var millis) -> database.crash(Duration.ofMillis(millis));
      case FailOver(var millis) -> database.failOver(Duration.ofMillis(millis));
      case PauseStandby(var millis) -> {
        database.pauseStandby();
        after(millis, database::continueStandby);
      }
      case EndConnections() -> database.terminateConnections();
    }
  }

  /// The number of a node that exists: of the active one, if `node` is too large.
  private int indexOf(int node) {
    if (node < nodes.length) {
      return node;
    }
    return IntStream.range(0, nodes.length)
        .filter(index -> nodes[index].log() != null)
        .findFirst()
        .orElse(0);
  }

  private void stopNode(int index, int millis) {
    var node = nodes[index];
    node.stop(
        () ->
            scheduler.after(
                Duration.ZERO,
                () -> {
                  if (!node.process().killed()) {
                    node.kill();
                    startLater(index, millis);
                  }
                }));
  }

  private void after(int millis, Runnable action) {
    scheduler.after(Duration.ofMillis(millis), action);
  }

  private void startLater(int index, int millis) {
    var ended = nodes[index];
    after(
        millis,
        () -> {
          if (nodes[index].equals(ended)) {
            startNode(index);
          }
        });
  }

  /// Drains the active node, which takes over again only after a restart.
  private void drain() {
    try (var rows = new SimulatedNodes(database.link(process), REQUEST_MAX, false)) {
      rows.drainActive();
    } catch (SQLException failed) {
      // The administrator gives up.
      return;
    }
  }

  private void endFaults() {
    clients.end();
    database.continueStandby();
    for (var index = 0; index < nodes.length; index++) {
      var node = nodes[index];
      node.process().resume();
      node.link().heal();
      if (node.process().killed()) {
        startNode(index);
      }
    }
    process.start("final", this::finish);
  }

  // The end.

  private void finish() {
    try {
      if (!awaitRequests()) {
        problems.add("a request does not end: " + List.of(nodes));
        done = true;
        return;
      }
      for (var context = 0; context < plan.contexts(); context++) {
        if (!clients.appendWithKey(context, List.of("final-" + context), RECOVERY_MAX)) {
          problems.add(
              SimulatedClients.name(context)
                  + ": cannot be written after all faults: "
                  + List.of(nodes));
          done = true;
          return;
        }
      }
      if (random.nextBoolean()) {
        replaceActive();
      }
      readAll();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    done = true;
  }

  /// Waits until all requests have ended, also those that their clients have given up.
  private boolean awaitRequests() throws InterruptedException {
    var deadline = process.time().deadline(RECOVERY_MAX);
    while (clients.busy()) {
      if (process.time().remaining(deadline) <= 0) {
        return false;
      }
      process.time().sleep(SimulatedClients.PAUSE);
    }
    return true;
  }

  /// Another node must find the same log in the database.
  private void replaceActive() throws InterruptedException {
    var node = clients.activeNode();
    if (node != null) {
      var index = List.of(nodes).indexOf(node);
      if (random.nextBoolean()) {
        inject(new KillNode(index, 1_000));
      } else {
        inject(new StopNode(index, 1_000));
      }
      process.time().sleep(Duration.ofSeconds(1));
    }
  }

  private void readAll() throws InterruptedException {
    var deadline = process.time().deadline(RECOVERY_MAX);
    while (process.time().remaining(deadline) > 0) {
      finalContexts.clear();
      finalDeleted.clear();
      var complete = new boolean[1];
      var _ =
          clients.call(
              log -> {
                for (var context = 0; context < plan.contexts(); context++) {
                  readFinal(log, context);
                }
                // The node was still active: nothing was read too early.
                var _ = log.create(new ContextId("last"), new ContextCreated("local", null, null));
                var _ =
                    log.append(
                        new ContextId("last"),
                        AppendGuard.none(),
                        Decision.always(SimulatedClients.message("last")));
                complete[0] = true;
              });
      if (complete[0]) {
        return;
      }
      process.time().sleep(SimulatedClients.PAUSE);
    }
    problems.add("the log cannot be read after all faults: " + List.of(nodes));
  }

  private void readFinal(BlockLog log, int context) {
    var entries = new ArrayList<SeenEntry>();
    var after = Position.START;
    try {
      while (true) {
        var page = SimulatedClients.seen(log.read(SimulatedClients.id(context), after, FINAL_PAGE));
        if (page.isEmpty()) {
          finalContexts.put(SimulatedClients.name(context), entries);
          return;
        }
        entries.addAll(page);
        after = page.getLast().position();
      }
    } catch (Rejection.Gone deleted) {
      finalDeleted.add(SimulatedClients.name(context));
    } catch (Rejection.NotFound absent) {
      // It was never created, or it is lost; the checker decides.
      return;
    }
  }
}
