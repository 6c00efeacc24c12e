package dev.parley.external.a2a;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aVersion;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Caches an agent's card: fetches it when needed, and keeps it as long as the agent allows. For
/// many threads.
final class AgentCardCache {

  private static final List<String> PATHS =
      List.of("/.well-known/agent-card.json", "/.well-known/agent.json");
  private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
  private static final Pattern MAX_AGE = Pattern.compile("max-age=\"?(\\d{1,9})");
  private static final Duration AGE_DEFAULT = Duration.ofMinutes(5);
  private static final Duration AGE_MAX = Duration.ofDays(1);
  private static final int CARD_MAX = 1 << 20;
  private static final int HOPS_MAX = 3;
  private static final int OK = 200;
  private static final int NOT_MODIFIED = 304;
  private static final int NOT_FOUND = 404;

  private record CachedCard(AgentCard card, String path, @Nullable String tag, Instant until) {}

  private final A2aRemoteSettings settings;
  private final A2aConnection connection;
  private final InstantSource clock;
  private volatile @Nullable CachedCard cached;

  AgentCardCache(A2aRemoteSettings settings, A2aConnection a2aConnection, InstantSource clock) {
    this.settings = settings;
    this.connection = a2aConnection;
    this.clock = clock;
  }

  /// The current card, from the cache if it is fresh.
  AgentCard current(String owner) throws A2aFailure, InterruptedException {
    var known = cached;
    if (known != null && clock.instant().isBefore(known.until())) {
      return known.card();
    }
    try {
      var fresh = fetch(known, owner);
      cached = fresh;
      return fresh.card();
    } catch (A2aFailure a2aFailure) {
      if (known != null && a2aFailure.retryable()) {
        return known.card();
      }
      throw a2aFailure;
    }
  }

  /// Invalidates the card because the agent does not behave as it says. It is fetched again before
  /// the next request.
  void invalidate() {
    var known = cached;
    if (known != null) {
      cached = new CachedCard(known.card(), known.path(), null, Instant.MIN);
    }
  }

  private CachedCard fetch(@Nullable CachedCard known, String owner)
      throws A2aFailure, InterruptedException {
    A2aFailure none = null;
    for (var path : PATHS) {
      var same = known != null && known.path().equals(path) ? known : null;
      var a2aHttpResponse = get(settings.resolve(path), same, owner);
      if (a2aHttpResponse.status() == NOT_MODIFIED && same != null) {
        return new CachedCard(same.card(), path, same.tag(), until(a2aHttpResponse));
      }
      if (a2aHttpResponse.status() == OK) {
        try {
          return new CachedCard(
              AgentCard.read(a2aHttpResponse.json()),
              path,
              a2aHttpResponse.header("ETag").orElse(null),
              until(a2aHttpResponse));
        } catch (A2aException malformed) {
          throw A2aFailure.unusable("its card cannot be read: " + malformed.getMessage());
        }
      }
      none =
          A2aFailure.status(
              a2aHttpResponse.status(), null, "there is no card at " + settings.resolve(path));
      if (a2aHttpResponse.status() != NOT_FOUND) {
        throw none;
      }
    }
    var told = AgentCard.configured(settings);
    if (told.isPresent()) {
      return new CachedCard(told.get(), "", null, clock.instant().plus(AGE_DEFAULT));
    }
    throw none == null ? A2aFailure.unusable("it has no card") : none;
  }

  /// Sends the request, and follows redirects within the same origin.
  private A2aConnection.A2aHttpResponse get(URI first, @Nullable CachedCard known, String owner)
      throws A2aFailure, InterruptedException {
    var url = first;
    for (var hop = 0; ; hop++) {
      var request = HttpRequest.newBuilder(url).header("Accept", "application/json").GET();
      if (settings.version() != A2aVersion.V0_3) {
        request.header(A2aVersion.HEADER, A2aVersion.V1_0.number());
      }
      if (known != null && known.tag() != null) {
        request.header("If-None-Match", known.tag());
      }
      var a2aHttpResponse = connection.sendAndRead(request, owner, CARD_MAX);
      if (!REDIRECTS.contains(a2aHttpResponse.status())) {
        return a2aHttpResponse;
      }
      var target = target(url, a2aHttpResponse.header("Location").orElse(""));
      if (hop == HOPS_MAX || target == null || !settings.hasSameOrigin(target)) {
        throw A2aFailure.unusable(
            "its card redirects to an address that is not followed: " + target);
      }
      url = target;
    }
  }

  private static @Nullable URI target(URI from, String location) {
    try {
      return location.isEmpty() ? null : from.resolve(location);
    } catch (IllegalArgumentException malformed) {
      return null;
    }
  }

  private Instant until(A2aConnection.A2aHttpResponse a2aHttpResponse) {
    var control = a2aHttpResponse.header("Cache-Control").orElse("");
    var age = MAX_AGE.matcher(control);
    var kept =
        control.contains("no-store") || control.contains("no-cache")
            ? Duration.ZERO
            : age.find() ? Duration.ofSeconds(Long.parseLong(age.group(1))) : AGE_DEFAULT;
    return clock.instant().plus(kept.compareTo(AGE_MAX) > 0 ? AGE_MAX : kept);
  }
}
