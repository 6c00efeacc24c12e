package dev.parley.a2a.remote;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.Version;
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
final class Cards {

  private static final List<String> PATHS =
      List.of("/.well-known/agent-card.json", "/.well-known/agent.json");
  private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
  private static final Pattern MAX_AGE = Pattern.compile("max-age=\"?(\\d{1,9})");
  private static final Duration USUAL_AGE = Duration.ofMinutes(5);
  private static final Duration AGE_MAX = Duration.ofDays(1);
  private static final int CARD_MAX = 1 << 20;
  private static final int HOPS_MAX = 3;
  private static final int OK = 200;
  private static final int NOT_MODIFIED = 304;
  private static final int NOT_FOUND = 404;

  private record Kept(Card card, String path, @Nullable String tag, Instant until) {}

  private final RemoteSettings settings;
  private final Line line;
  private final InstantSource clock;
  private volatile @Nullable Kept kept;

  Cards(RemoteSettings settings, Line line, InstantSource clock) {
    this.settings = settings;
    this.line = line;
    this.clock = clock;
  }

  /// The current card, from the cache if it is fresh.
  Card current(String owner) throws Trouble, InterruptedException {
    var known = kept;
    if (known != null && clock.instant().isBefore(known.until())) {
      return known.card();
    }
    try {
      var fresh = fetch(known, owner);
      kept = fresh;
      return fresh.card();
    } catch (Trouble trouble) {
      if (known != null && trouble.passing()) {
        return known.card();
      }
      throw trouble;
    }
  }

  /// Invalidates the card because the agent does not behave as it says. It is fetched again before
  /// the next request.
  void doubt() {
    var known = kept;
    if (known != null) {
      kept = new Kept(known.card(), known.path(), null, Instant.MIN);
    }
  }

  private Kept fetch(@Nullable Kept known, String owner) throws Trouble, InterruptedException {
    Trouble none = null;
    for (var path : PATHS) {
      var same = known != null && known.path().equals(path) ? known : null;
      var answer = get(settings.at(path), same, owner);
      if (answer.status() == NOT_MODIFIED && same != null) {
        return new Kept(same.card(), path, same.tag(), until(answer));
      }
      if (answer.status() == OK) {
        try {
          return new Kept(
              Card.read(answer.json()), path, answer.header("ETag").orElse(null), until(answer));
        } catch (A2aException malformed) {
          throw Trouble.unusable("its card cannot be read: " + malformed.getMessage());
        }
      }
      none = Trouble.status(answer.status(), null, "there is no card at " + settings.at(path));
      if (answer.status() != NOT_FOUND) {
        throw none;
      }
    }
    var told = Card.configured(settings);
    if (told.isPresent()) {
      return new Kept(told.get(), "", null, clock.instant().plus(USUAL_AGE));
    }
    throw none == null ? Trouble.unusable("it has no card") : none;
  }

  /// Sends the request, and follows redirects within the same origin.
  private Line.Answer get(URI first, @Nullable Kept known, String owner)
      throws Trouble, InterruptedException {
    var url = first;
    for (var hop = 0; ; hop++) {
      var request = HttpRequest.newBuilder(url).header("Accept", "application/json").GET();
      if (settings.version() != Version.V0_3) {
        request.header(Version.HEADER, Version.V1_0.number());
      }
      if (known != null && known.tag() != null) {
        request.header("If-None-Match", known.tag());
      }
      var answer = line.whole(request, owner, CARD_MAX);
      if (!REDIRECTS.contains(answer.status())) {
        return answer;
      }
      var target = target(url, answer.header("Location").orElse(""));
      if (hop == HOPS_MAX || target == null || !settings.covers(target)) {
        throw Trouble.unusable("its card redirects to an address that is not followed: " + target);
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

  private Instant until(Line.Answer answer) {
    var control = answer.header("Cache-Control").orElse("");
    var age = MAX_AGE.matcher(control);
    var kept =
        control.contains("no-store") || control.contains("no-cache")
            ? Duration.ZERO
            : age.find() ? Duration.ofSeconds(Long.parseLong(age.group(1))) : USUAL_AGE;
    return clock.instant().plus(kept.compareTo(AGE_MAX) > 0 ? AGE_MAX : kept);
  }
}
