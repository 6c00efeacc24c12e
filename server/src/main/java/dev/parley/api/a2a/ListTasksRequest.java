package dev.parley.api.a2a;

import dev.parley.a2a.A2aState;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/// The parameters of a request that lists tasks.
record ListTasksRequest(
    @Nullable ContextId context,
    @Nullable A2aState state,
    @Nullable Instant changedSince,
    int pageSize,
    @Nullable String pageToken,
    @Nullable Integer historyLength,
    boolean artifacts) {

  static final int PAGE_MAX = 100;
  private static final int PAGE_DEFAULT = 50;

  static ListTasksRequest of(A2aParams a2aParams) {
    var context = a2aParams.text("contextId");
    if (context != null && !Id.valid(context)) {
      throw A2aParams.invalid("contextId: not a valid context id");
    }
    var size = a2aParams.integer("pageSize");
    if (size != null && (size < 1 || size > PAGE_MAX)) {
      throw A2aParams.invalid("pageSize: must be between 1 and " + PAGE_MAX);
    }
    return new ListTasksRequest(
        context == null ? null : new ContextId(context),
        state(a2aParams.text("status")),
        time(a2aParams.text("statusTimestampAfter")),
        size == null ? PAGE_DEFAULT : size,
        a2aParams.text("pageToken"),
        a2aParams.integer("historyLength"),
        a2aParams.flag("includeArtifacts"));
  }

  private static @Nullable A2aState state(@Nullable String name) {
    if (name == null) {
      return null;
    }
    var state =
        A2aState.of(name).orElseThrow(() -> A2aParams.invalid("status: unknown state " + name));
    return state == A2aState.UNKNOWN ? null : state;
  }

  private static @Nullable Instant time(@Nullable String text) {
    try {
      return text == null ? null : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException notATime) {
      throw A2aParams.invalid(
          "statusTimestampAfter: a time such as 2026-01-31T12:00:00Z is needed");
    }
  }
}
