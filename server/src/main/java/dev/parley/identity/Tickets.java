package dev.parley.identity;

import dev.parley.identity.Caller.Grant;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/// Tickets: credentials for one path that only read and are valid for a minute.
///
/// They are for streams and downloads of browsers, which cannot send headers: a ticket may be in a
/// URL, where a key must not be. In memory only. For many threads.
public final class Tickets {

  /// How long a ticket opens its path. What it has opened stays open.
  public static final Duration VALID = Duration.ofMinutes(1);

  private static final int MAX = 10_000;
  private static final int PATH_MAX = 2_048;

  /// A ticket, as its owner gets it.
  public record IssuedTicket(String ticket, String url, Instant expiresAt) {}

  private record Ticket(Caller caller, String path, Instant expiresAt) {}

  private final Map<String, Ticket> byHash = new ConcurrentHashMap<>();
  private final Secrets secrets;
  private final Time time;

  Tickets(Secrets secrets, Time time) {
    this.secrets = secrets;
    this.time = time;
  }

  /// Issues a ticket with which the caller can read this path, which may have a query.
  public IssuedTicket issue(Caller caller, String target) {
    if (!target.startsWith("/") || target.startsWith("//") || target.length() > PATH_MAX) {
      throw new Rejection.Invalid(
          "path must begin with / and have at most " + PATH_MAX + " characters");
    }
    var now = time.instant();
    if (byHash.size() >= MAX) {
      byHash.values().removeIf(ticket -> !now.isBefore(ticket.expiresAt()));
    }
    if (byHash.size() >= MAX) {
      throw new Rejection.Busy("too-many-tickets", "there are at most " + MAX + " valid tickets");
    }
    var query = target.indexOf('?');
    var path = query < 0 ? target : target.substring(0, query);
    var secret = secrets.create(Secrets.TICKET);
    var expiresAt = now.plus(VALID);
    byHash.put(Secrets.hash(secret), new Ticket(caller, path, expiresAt));
    return new IssuedTicket(
        secret, target + (query < 0 ? "?" : "&") + "ticket=" + secret, expiresAt);
  }

  /// The caller of a ticket for this path. It can only read.
  Optional<Caller> find(String secret, String path, InetAddress from) {
    var ticket = byHash.get(Secrets.hash(secret));
    if (ticket == null
        || !ticket.path().equals(path)
        || !time.instant().isBefore(ticket.expiresAt())) {
      return Optional.empty();
    }
    var caller = ticket.caller();
    var grant = caller.grant();
    return Optional.of(
        new Caller(
            caller.principal(),
            caller.kind(),
            caller.tenant(),
            caller.groups(),
            caller.roles(),
            new Grant(
                grant.scopes().contains(Scope.READ) ? Set.of(Scope.READ) : Set.of(),
                grant.agents(),
                grant.contexts()),
            caller.credential(),
            from));
  }

  /// Ends the tickets of callers that have lost a permission.
  void revoke(Predicate<Caller> lost) {
    byHash.values().removeIf(ticket -> lost.test(ticket.caller()));
  }
}
