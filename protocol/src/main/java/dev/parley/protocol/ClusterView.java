package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The servers that share a database.
public record ClusterView(List<ClusterNode> nodes) {

  public ClusterView {
    nodes = List.copyOf(nodes);
  }

  /// One server since its last start. `role` is `active` or `standby`. `secondsSilent` is the time
  /// since its last sign of life. `drain` is true if it was requested to give up its role. Only the
  /// active server has a `load`.
  public record ClusterNode(
      long id,
      String role,
      String address,
      String version,
      long secondsSilent,
      boolean drain,
      @Nullable ClusterLoad load) {}

  /// How many tasks run now and wait for a free slot, and how many streams are open.
  public record ClusterLoad(long tasksRunning, long tasksQueued, long streams) {}
}
