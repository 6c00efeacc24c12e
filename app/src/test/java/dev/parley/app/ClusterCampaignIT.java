package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Three servers on one database, in which processes, networks and databases fail.
///
/// `-Dparley.campaign.seed=N` chooses other faults for the first test, and
/// `-Dparley.campaign.faults=N` their number. The report is also written to `target/campaign-SEED.txt`.
final class ClusterCampaignIT {

  /// Chooses a kill, a stop, a suspension and a promotion, in which a server takes over, and two
  /// failures of networks; none of them lasts long.
  private static final long SHORT = 215_806;

  @TempDir Path folder;

  @Test
  void a_cluster_loses_nothing_in_a_few_faults() throws Exception {
    run(
        Long.getLong("parley.campaign.seed", SHORT),
        Integer.getInteger("parley.campaign.faults", 6));
  }

  @Test
  @Tag("long")
  void a_cluster_loses_nothing_in_many_faults() throws Exception {
    run(1, 100);
  }

  private void run(long seed, int faults) throws Exception {
    try (var campaign = new ClusterCampaign(folder, seed, faults)) {
      var report = campaign.report();
      try {
        campaign.run();
      } finally {
        System.out.println(report.text());
        Files.writeString(Path.of("target", "campaign-" + seed + ".txt"), report.text());
      }
      assertThat(report.violations()).isEmpty();
    }
  }
}
