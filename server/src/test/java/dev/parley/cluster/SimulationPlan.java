package dev.parley.cluster;

import dev.parley.log.SimulatedDatabase.CommitFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// What happens in a simulated cluster: requests and faults, and when. A failing plan can be shrunk.
record SimulationPlan(int nodes, int contexts, List<PlannedStep> steps) {

  private static final List<CommitFault> COMMIT_FAULTS =
      List.copyOf(EnumSet.allOf(CommitFault.class));
  private static final int SECONDS = 20;
  private static final int REQUESTS_MIN = 25;
  private static final int REQUESTS_MORE = 40;
  private static final int FAULTS_MIN = 2;
  private static final int FAULTS_MORE = 7;

  /// How close to a fault many requests begin.
  private static final int NEAR_MILLIS = 150;

  record PlannedStep(int atMillis, PlannedAction action) {

    @Override
    public String toString() {
      return atMillis + " ms: " + action;
    }
  }

  sealed interface PlannedAction {}

  sealed interface ClientRequest extends PlannedAction {}

  record CreateContext(int context) implements ClientRequest {}

  record Append(int context, int id, int events, boolean keyed, boolean guarded)
      implements ClientRequest {}

  record Fork(int source, int fork) implements ClientRequest {}

  record Delete(int context) implements ClientRequest {}

  record Tail(int context, int reader) implements ClientRequest {}

  /// A fault of a node concerns the active one if its number is not that of a node.
  sealed interface Fault extends PlannedAction {}

  record KillNode(int node, int downMillis) implements Fault {}

  record StopNode(int node, int downMillis) implements Fault {}

  record SuspendNode(int node, int millis) implements Fault {}

  record PartitionNode(int node, int millis) implements Fault {}

  record FailCommit(int node, CommitFault fault) implements Fault {}

  record DrainActive() implements Fault {}

  record CrashDatabase(int downMillis) implements Fault {}

  record FailOver(int downMillis) implements Fault {}

  record PauseStandby(int millis) implements Fault {}

  record EndConnections() implements Fault {}

  /// The plan of a seed.
  static SimulationPlan of(long seed) {
    return new PlanGenerator(new Random(seed)).generate();
  }

  private static final class PlanGenerator {
    private final Random random;
    private final List<PlannedStep> steps = new ArrayList<>();
    private final int nodes;
    private int contexts;

    PlanGenerator(Random random) {
      this.random = random;
      this.nodes = 2 + random.nextInt(3);
    }

    SimulationPlan generate() {
      contexts = 1 + random.nextInt(3);
      for (var context = 0; context < contexts; context++) {
        steps.add(new PlannedStep(random.nextInt(2_000), new CreateContext(context)));
        steps.add(new PlannedStep(random.nextInt(8_000), new Tail(context, context)));
      }
      addFaults();
      var faultTimes = steps.stream().filter(s -> s.action() instanceof Fault).toList();
      var requests = REQUESTS_MIN + random.nextInt(REQUESTS_MORE);
      for (var id = 0; id < requests; id++) {
        var at = 500 + random.nextInt(SECONDS * 1_000);
        if (random.nextInt(100) < 60) {
          var near = faultTimes.get(random.nextInt(faultTimes.size())).atMillis();
          at = Math.max(500, near - NEAR_MILLIS + random.nextInt(2 * NEAR_MILLIS));
        }
        steps.add(new PlannedStep(at, request(id)));
      }
      steps.sort(Comparator.comparingInt(PlannedStep::atMillis));
      return new SimulationPlan(nodes, contexts, List.copyOf(steps));
    }

    private ClientRequest request(int id) {
      var context = random.nextInt(contexts);
      return switch (random.nextInt(24)) {
        case 0 -> new Delete(context);
        case 1, 2 -> new Fork(context, contexts++);
        case 3 -> new Tail(context, 100 + id);
        case 4 -> new CreateContext(context);
        default ->
            new Append(
                context, id, 1 + random.nextInt(3), random.nextInt(2) == 0, random.nextInt(4) == 0);
      };
    }

    private void addFaults() {
      var faults = FAULTS_MIN + random.nextInt(FAULTS_MORE);
      for (var fault = 0; fault < faults; fault++) {
        var at = 1_000 + random.nextInt((SECONDS - 2) * 1_000);
        switch (random.nextInt(12)) {
          case 0, 1 -> addDisaster(at);
          case 2 -> addLateCommit(at);
          default -> steps.add(new PlannedStep(at, fault()));
        }
      }
    }

    private Fault fault() {
      var node = random.nextInt(nodes + 2);
      return switch (random.nextInt(16)) {
        case 0, 1 -> new KillNode(node, millis(100, 6_000));
        case 2 -> new StopNode(node, millis(100, 4_000));
        case 3, 4, 5 -> new SuspendNode(node, millis(500, 12_000));
        case 6, 7 -> new PartitionNode(node, millis(200, 9_000));
        case 8, 9, 10 -> new FailCommit(node, commitFault());
        case 11 -> new DrainActive();
        case 12 -> new CrashDatabase(millis(50, 3_000));
        case 13 -> new FailOver(millis(200, 4_000));
        case 14 -> new PauseStandby(millis(100, 8_000));
        default -> new EndConnections();
      };
    }

    /// The standby receives nothing any more, the primary is restarted, and then it is lost. Often a
    /// node that was active before does not know yet that it was replaced.
    private void addDisaster(int at) {
      if (random.nextInt(3) == 0) {
        steps.add(
            new PlannedStep(
                Math.max(500, at - millis(5_300, 8_000)),
                new SuspendNode(nodes, millis(6_000, 11_000))));
      }
      steps.add(new PlannedStep(at, new PauseStandby(millis(3_000, 12_000))));
      var crash = at + millis(20, 800);
      steps.add(
          new PlannedStep(
              crash,
              random.nextInt(3) == 0
                  ? new EndConnections()
                  : new CrashDatabase(millis(50, 1_000))));
      steps.add(new PlannedStep(crash + millis(300, 3_000), new FailOver(millis(200, 2_000))));
    }

    /// A commit of the active node arrives late, and another node continues soon.
    private void addLateCommit(int at) {
      steps.add(new PlannedStep(at, new FailCommit(nodes, CommitFault.LATE)));
      steps.add(
          random.nextBoolean()
              ? new PlannedStep(at + millis(500, 9_000), new KillNode(nodes, millis(100, 2_000)))
              : new PlannedStep(
                  at + millis(20, 500), new SuspendNode(nodes, millis(6_000, 11_000))));
    }

    private CommitFault commitFault() {
      return COMMIT_FAULTS.get(random.nextInt(COMMIT_FAULTS.size()));
    }

    private int millis(int min, int max) {
      return min + random.nextInt(max - min);
    }
  }

  private SimulationPlan with(List<PlannedStep> remaining) {
    return new SimulationPlan(nodes, contexts, remaining);
  }

  /// Removes steps for as long as the plan still fails: first halves, then smaller parts.
  SimulationPlan shrink(Predicate<SimulationPlan> fails) {
    var smallest = this;
    for (var size = steps.size() / 2; size > 0; size /= 2) {
      var removed = true;
      while (removed) {
        removed = false;
        for (var from = 0; from < smallest.steps.size(); from += size) {
          var remaining = new ArrayList<>(smallest.steps);
          remaining.subList(from, Math.min(from + size, remaining.size())).clear();
          var smaller = smallest.with(List.copyOf(remaining));
          if (fails.test(smaller)) {
            smallest = smaller;
            removed = true;
            from -= size;
          }
        }
      }
    }
    return smallest;
  }

  @Override
  public String toString() {
    return nodes
        + " nodes\n"
        + steps.stream().map(PlannedStep::toString).collect(Collectors.joining("\n"));
  }

  /// When the last step has begun.
  Duration duration() {
    return Duration.ofMillis(steps.stream().mapToInt(PlannedStep::atMillis).max().orElse(0));
  }
}
