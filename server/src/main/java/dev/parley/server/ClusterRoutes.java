package dev.parley.server;

import dev.parley.cluster.Membership;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.http.OperatorRoutes;
import dev.parley.http.OperatorRoutes.Health;
import dev.parley.http.Reply;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.protocol.ClusterView;
import dev.parley.protocol.ClusterView.ClusterNode;
import dev.parley.protocol.Rejection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The routes and metrics of a server that belongs to a cluster.
final class ClusterRoutes {

  private final PostgresDatabase database;
  private final Supplier<Optional<Membership>> membership;

  ClusterRoutes(PostgresDatabase database, Supplier<Optional<Membership>> membership) {
    this.database = database;
    this.membership = membership;
  }

  /// What a standby server answers itself. It forwards everything else, and also what [#active] has
  /// while a server is active.
  List<Route> standby(Metrics metrics) {
    return Stream.concat(OperatorRoutes.ofStandby(metrics, this::ready).stream(), active().stream())
        .toList();
  }

  private Reply ready() {
    if (membership.get().flatMap(Membership::active).isEmpty()) {
      throw new Rejection.Unavailable("no server of the cluster is active");
    }
    return new Reply.Json(200, new Health("standby"));
  }

  /// What the active server answers in addition to a single one.
  List<Route> active() {
    return List.of(
        Route.get(
            "/api/cluster",
            "Returns the servers of the cluster",
            ResponseDescription.one(ClusterView.class),
            _ -> new Reply.Json(200, view(nodes()))),
        Route.withoutBody(
            Route.Method.POST,
            "/api/cluster/nodes/{node}/drain",
            "Requests a server to give up its role and not to take over again",
            ResponseDescription.one(ClusterView.class),
            request -> drain(request.path("node"))));
  }

  private static ClusterView view(List<NodeRow> nodes) {
    return new ClusterView(nodes.stream().map(ClusterRoutes::view).toList());
  }

  private List<NodeRow> nodes() {
    return membership.get().map(Membership::nodes).orElse(List.of());
  }

  private static ClusterNode view(NodeRow node) {
    return new ClusterNode(
        node.id(),
        node.role().text(),
        node.info().address(),
        node.info().version(),
        node.secondsSilent(),
        node.drain());
  }

  private Reply drain(String node) {
    var id = parse(node);
    if (nodes().stream().allMatch(other -> other.id() == id || other.drain())) {
      throw new Rejection.Conflict(
          "last-server",
          "no other server could take over from server %d: start another one first".formatted(id));
    }
    try (var connection = database.connect()) {
      if (!PostgresNode.requestDrain(connection, id)) {
        throw new Rejection.NotFound("no such node: " + node);
      }
      return new Reply.Json(202, view(PostgresNode.living(connection)));
    } catch (SQLException failed) {
      throw new Rejection.Unavailable("the database cannot be used: " + failed.getMessage());
    }
  }

  private static long parse(String node) {
    try {
      return Long.parseLong(node);
    } catch (NumberFormatException malformed) {
      throw new Rejection.Invalid("invalid-node", "a node is a number, not " + node);
    }
  }

  /// Adds the metrics of the cluster.
  void addTo(Metrics metrics) {
    metrics.gauges(Metric.CLUSTER_NODES, this::roles);
    metrics.gauge(Metric.CLUSTER_ACTIVE, () -> selfActive() ? 1 : 0);
  }

  private Map<String, Long> roles() {
    return nodes().stream()
        .collect(Collectors.groupingBy(node -> node.role().text(), Collectors.counting()));
  }

  private boolean selfActive() {
    return membership
        .get()
        .flatMap(joined -> joined.active().filter(joined::isSelf))
        .map(NodeRow::role)
        .filter(NodeRole.ACTIVE::equals)
        .isPresent();
  }
}
