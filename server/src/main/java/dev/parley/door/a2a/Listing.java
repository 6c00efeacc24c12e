package dev.parley.door.a2a;

import dev.parley.a2a.WireState;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/// The parameters of a request that lists tasks.
record Listing(
    @Nullable ContextId context,
    @Nullable WireState state,
    @Nullable Instant changedSince,
    int pageSize,
    @Nullable String pageToken,
    @Nullable Integer historyLength,
    boolean artifacts) {

  static final int PAGE_MAX = 100;
  private static final int PAGE_USUAL = 50;

  static Listing of(Params params) {
    var context = params.text("contextId");
    if (context != null && !Id.valid(context)) {
      throw Params.invalid("contextId: not a valid context id");
    }
    var size = params.whole("pageSize");
    if (size != null && (size < 1 || size > PAGE_MAX)) {
      throw Params.invalid("pageSize: must be between 1 and " + PAGE_MAX);
    }
    return new Listing(
        context == null ? null : new ContextId(context),
        state(params.text("status")),
        time(params.text("statusTimestampAfter")),
        size == null ? PAGE_USUAL : size,
        params.text("pageToken"),
        params.whole("historyLength"),
        params.flag("includeArtifacts"));
  }

  private static @Nullable WireState state(@Nullable String name) {
    if (name == null) {
      return null;
    }
    var state =
        WireState.of(name).orElseThrow(() -> Params.invalid("status: unknown state " + name));
    return state == WireState.UNKNOWN ? null : state;
  }

  private static @Nullable Instant time(@Nullable String text) {
    try {
      return text == null ? null : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException notATime) {
      throw Params.invalid("statusTimestampAfter: a time such as 2026-01-31T12:00:00Z is needed");
    }
  }
}
