package dev.parley.http;

import dev.parley.audit.AuditEvent;
import dev.parley.audit.AuditQuery;
import dev.parley.audit.AuditRecord;
import dev.parley.audit.AuditRecord.ChainPoint;
import dev.parley.audit.AuditTrail;
import dev.parley.identity.Action;
import dev.parley.protocol.AuditPage;
import dev.parley.protocol.AuditPage.AuditItem;
import dev.parley.protocol.AuditPage.AuditPoint;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;

/// `GET /api/audit`: the audit trail, for operators. Reading it is recorded, too.
public final class AuditRoutes {

  private static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.query("principal", "only what this principal did"),
          Parameter.query("tenant", "only what principals of this tenant did"),
          Parameter.query("action", "only this action; may end with *"),
          Parameter.query("target", "only what was done to this; may end with *"),
          Parameter.query("result", "succeeded, refused or failed"),
          Parameter.query("since", "only from this time on, such as 2026-11-19T08:00:00Z"),
          Parameter.query("until", "only before this time"),
          Parameter.query(
              "after", Parameter.Type.INTEGER, "oldest first, from the record after this number"),
          Parameter.query(
              "before", Parameter.Type.INTEGER, "newest first, from the record before this number"),
          Parameter.LIMIT);

  private static final List<String> RESULTS = List.of("succeeded", "refused", "failed");

  private final AuditTrail trail;

  public AuditRoutes(AuditTrail trail) {
    this.trail = trail;
  }

  /// The routes.
  public List<Route> routes() {
    return List.of(
        Route.get(
                "/api/audit",
                "Lists the records of the audit trail, newest first unless `after` is given",
                ResponseDescription.one(AuditPage.class),
                PARAMETERS,
                this::read)
            .doing(Action.OPERATE));
  }

  private Reply read(Request request) {
    if (trail.disabled()) {
      throw new Rejection.NotFound("there is no audit trail: audit.enabled is false");
    }
    var query =
        new AuditQuery(
            request.query("principal").orElse(""),
            request.query("tenant").orElse(""),
            request.query("action").orElse(""),
            request.query("target").orElse(""),
            result(request),
            time(request, "since"),
            time(request, "until"),
            request.number("after", 0),
            request.number("before", 1),
            request.limit());
    trail.recordAccess(AuditEvent.done(RequestAudit.actor(request), "audit-read", ""));
    var found = trail.read(query);
    var ends = trail.ends();
    return new Reply.Json(
        200,
        new AuditPage(
            found.stream().map(AuditRoutes::item).toList(),
            found.size() < query.limit() ? null : found.getLast().number(),
            point(ends.anchor()),
            point(ends.head())));
  }

  private static String result(Request request) {
    var result = request.query("result").orElse("");
    if (!result.isEmpty() && !RESULTS.contains(result)) {
      throw new Rejection.Invalid("result must be one of " + String.join(", ", RESULTS));
    }
    return result;
  }

  private static Optional<Instant> time(Request request, String name) {
    try {
      return request.query(name).map(Instant::parse);
    } catch (DateTimeParseException malformed) {
      throw new Rejection.Invalid(name + " must be a time such as 2026-11-19T08:00:00Z");
    }
  }

  private static AuditItem item(AuditRecord found) {
    return new AuditItem(found.hash(), found.json());
  }

  private static AuditPoint point(ChainPoint end) {
    return new AuditPoint(end.number(), end.hash());
  }
}
