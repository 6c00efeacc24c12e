package dev.parley.door.contexts;

import dev.parley.door.DoorParts;
import dev.parley.log.Guard;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import dev.parley.vault.Place;
import dev.parley.vault.SignInLog;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Reads and appends the events of one sign-in. For one thread.
final class LoggedSignIn implements SignInLog {

  private final DoorParts parts;
  private final Answerer by;
  private final Guard guard;
  private long seq;

  LoggedSignIn(DoorParts parts, Answerer by, Guard guard) {
    this.parts = parts;
    this.by = by;
    this.guard = guard;
  }

  @Override
  public Asked asked(Place place) {
    var required =
        parts
            .log()
            .inspect(
                place.contextId(),
                state -> state.openAuth(place.authId()).map(open -> open.required()))
            .orElseThrow(
                () -> new Rejection.Conflict("not-wanted", "this sign-in is not requested"));
    var provider = Optional.ofNullable(required.provider()).orElse("");
    return new Asked(parts.log().owner(place.contextId()), provider, required.authType());
  }

  @Override
  public void completed(Place place, String principal, ObjectNode metadata) {
    say(place, principal, metadata);
  }

  /// True if the sign-in is still open. If it is not, the same request has already completed it.
  ///
  /// @throws Rejection.NotFound if it was never requested
  /// @throws Rejection.Conflict if another request completed it, or it was withdrawn
  boolean open(Place place, String principal) {
    var open =
        parts.log().inspect(place.contextId(), state -> state.openAuth(place.authId()).isPresent());
    if (!open) {
      say(place, principal, null);
    }
    return open;
  }

  /// The seq of the event that completed the sign-in.
  long seq() {
    return seq;
  }

  private void say(Place place, String principal, @Nullable ObjectNode metadata) {
    var said =
        parts
            .tasks()
            .signedIn(place.contextId(), place.authId(), by.as(principal), metadata, guard);
    seq = said.first().seq();
  }
}
