package dev.parley.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.SimulatedDatabase.Protection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Runs the log and the membership of a cluster in a simulated world, with faults.
///
/// A failure names its seed, and the smallest plan that was found to fail with it:
/// `-Dparley.simulation.seed=N` repeats it. `-Dparley.simulation.seeds=N` is the number of seeds of
/// the long test. See docs/decisions/0061-simulation.md.
final class ClusterSimulationTest {

  private static final Set<Protection> ALL = EnumSet.allOf(Protection.class);
  private static final int SEEDS = 300;
  private static final int SEEDS_LONG = 100_000;

  /// With these, a reader of a fork that was being deleted once saw a gap.
  private static final List<Long> FAILED_SEEDS = List.of(34_701L, 46_581L, 61_845L);

  /// Kept here, because a logger that nobody refers to loses its level.
  private static final Logger LOGGER = Logger.getLogger("dev.parley");

  @BeforeAll
  static void hideLogOfServers() {
    LOGGER.setLevel(Level.OFF);
  }

  @AfterAll
  static void showLogOfServers() {
    LOGGER.setLevel(null);
  }

  private static void check(long seed) {
    var plan = SimulationPlan.of(seed);
    var violations = ClusterSimulation.run(seed, plan, ALL).violations();
    if (!violations.isEmpty()) {
      var smallest =
          plan.shrink(shrunk -> !ClusterSimulation.run(seed, shrunk, ALL).violations().isEmpty());
      throw new AssertionError(
          "seed %d: %s%nsmallest plan: %s%nwhich ends with %s"
              .formatted(
                  seed,
                  String.join("\n", violations),
                  smallest,
                  ClusterSimulation.run(seed, smallest, ALL).violations()));
    }
  }

  private static LongStream seeds(int count) {
    var one = Long.getLong("parley.simulation.seed");
    return one == null ? LongStream.range(0, count) : LongStream.of(one);
  }

  @Test
  void whatever_happens_nothing_acknowledged_or_visible_is_lost() {
    seeds(SEEDS).forEach(ClusterSimulationTest::check);
  }

  @Test
  @Tag("long")
  void whatever_happens_nothing_acknowledged_or_visible_is_lost_for_many_seeds() {
    seeds(Integer.getInteger("parley.simulation.seeds", SEEDS_LONG))
        .forEach(ClusterSimulationTest::check);
  }

  @Test
  void seeds_that_have_failed_do_not_fail_again() {
    FAILED_SEEDS.forEach(ClusterSimulationTest::check);
  }

  @Test
  void a_seed_repeats_a_run_exactly() {
    for (var seed = 0L; seed < 20; seed++) {
      var plan = SimulationPlan.of(seed);
      assertThat(ClusterSimulation.run(seed, plan, ALL))
          .isEqualTo(ClusterSimulation.run(seed, plan, ALL));
    }
  }

  @Test
  void the_simulation_notices_that_transactions_do_not_check_the_epoch() {
    assertThat(findsViolation(Protection.FENCING, 500)).isTrue();
  }

  @Test
  void the_simulation_notices_that_a_new_writer_does_not_wait_for_the_standby() {
    assertThat(findsViolation(Protection.BARRIER, 200)).isTrue();
  }

  @Test
  void the_simulation_notices_that_a_new_writer_does_not_raise_the_epoch() {
    assertThat(findsViolation(Protection.NEW_EPOCH, 1_000)).isTrue();
  }

  @Test
  @Tag("long")
  void the_simulation_notices_that_a_fenced_writer_finds_the_block_of_another_one() {
    assertThat(findsViolation(Protection.FENCED_LOOKUP, 10_000)).isTrue();
  }

  @Test
  @Tag("long")
  void the_simulation_notices_that_a_reader_does_not_wait_for_the_standby() {
    assertThat(findsViolation(Protection.READ_BARRIER, 20_000)).isTrue();
  }

  private static boolean findsViolation(Protection missing, int seeds) {
    var protections = EnumSet.complementOf(EnumSet.of(missing));
    return LongStream.range(0, seeds)
        .anyMatch(
            seed ->
                !ClusterSimulation.run(seed, SimulationPlan.of(seed), protections)
                    .violations()
                    .isEmpty());
  }
}
