package dev.parley.server;

import dev.parley.cluster.Membership;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.http.OperatorRoutes;
import dev.parley.http.OperatorRoutes.Health;
import dev.parley.http.Reply;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.ServerLocation.Elsewhere;
import dev.parley.identity.Action;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.protocol.ClusterView;
import dev.parley.protocol.ClusterView.ClusterLoad;
import dev.parley.protocol.ClusterView.ClusterNode;
import dev.parley.protocol.Rejection;
import java.net.URI;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The routes and metrics of a server that belongs to a cluster.
final class ClusterRoutes {

  private static final double MILLIS_PER_SECOND = 1_000;

  private final PostgresDatabase database;
  private final Supplier<Optional<Membership>> membership;
  private final ClusterState state;

  /// What the routes and metrics report of this server, besides its membership.
  record ClusterState(BooleanSupplier stopping, LongSupplier takeovers, IntSupplier forwarded) {}

  ClusterRoutes(
      PostgresDatabase database, Supplier<Optional<Membership>> membership, ClusterState state) {
    this.database = database;
    this.membership = membership;
    this.state = state;
  }

  /// What a standby server answers itself. It forwards everything else, and also what [#active] has
  /// while a server is active.
  List<Route> standby(Metrics metrics) {
    return Stream.concat(
            OperatorRoutes.ofStandby(metrics, this::ready).stream(), active(metrics).stream())
        .toList();
  }

  private Reply ready() {
    if (state.stopping().getAsBoolean()) {
      throw new Rejection.Unavailable("the server is stopping");
    }
    var active =
        membership
            .get()
            .flatMap(Membership::active)
            .orElseThrow(() -> new Rejection.Unavailable("no server of the cluster is active"));
    if (selfActive()) {
      return new Reply.Json(200, new Health("taking-over"));
    }
    var address = active.info().address();
    if (!new Elsewhere(URI.create(address)).reachable()) {
      throw new Rejection.Unavailable(
          "the active server cannot be reached at %s; check its --node-address and the network"
              .formatted(address));
    }
    return new Reply.Json(200, new Health("standby"));
  }

  /// What the active server, which has these metrics, answers in addition to a single one.
  List<Route> active(Metrics metrics) {
    return List.of(
        Route.get(
                "/api/cluster",
                "Returns the servers of the cluster",
                ResponseDescription.one(ClusterView.class),
                _ -> new Reply.Json(200, view(nodes(), metrics)))
            .doing(Action.OPERATE),
        Route.withoutBody(
                Route.Method.POST,
                "/api/cluster/nodes/{node}/drain",
                "Requests a server to give up its role and not to take over again",
                ResponseDescription.one(ClusterView.class),
                request -> drain(request.path("node"), metrics))
            .doing(Action.OPERATE));
  }

  private ClusterView view(List<NodeRow> nodes, Metrics metrics) {
    return new ClusterView(nodes.stream().map(node -> view(node, metrics)).toList());
  }

  private List<NodeRow> nodes() {
    return membership.get().map(Membership::nodes).orElse(List.of());
  }

  private ClusterNode view(NodeRow node, Metrics metrics) {
    return new ClusterNode(
        node.id(),
        node.role().text(),
        node.info().address(),
        node.info().version(),
        node.secondsSilent(),
        node.drain(),
        isActiveSelf(node) ? load(metrics) : null);
  }

  private boolean isActiveSelf(NodeRow node) {
    return node.role() == NodeRole.ACTIVE
        && membership.get().filter(joined -> joined.isSelf(node)).isPresent();
  }

  private static ClusterLoad load(Metrics metrics) {
    return new ClusterLoad(
        (long) metrics.value(Metric.TASKS_RUNNING).orElse(0),
        (long) metrics.value(Metric.TASKS_QUEUED).orElse(0),
        (long) metrics.value(Metric.STREAMS).orElse(0));
  }

  private Reply drain(String node, Metrics metrics) {
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
      return new Reply.Json(202, view(PostgresNode.living(connection), metrics));
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
    metrics.gauge(Metric.CLUSTER_TAKEOVERS, () -> state.takeovers().getAsLong());
    metrics.gauge(Metric.CLUSTER_FORWARDED, () -> state.forwarded().getAsInt());
    metrics.gauge(
        Metric.CLUSTER_REPLY,
        () ->
            membership
                .get()
                .map(joined -> joined.sinceReply().toMillis() / MILLIS_PER_SECOND)
                .orElse(Double.NaN));
  }

  private Map<String, Long> roles() {
    // Also those that no server has, so that an alert can compare them.
    var found = nodes().stream().map(NodeRow::role).toList();
    return Stream.of(NodeRole.ACTIVE, NodeRole.STANDBY)
        .collect(
            Collectors.toMap(NodeRole::text, role -> found.stream().filter(role::equals).count()));
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
