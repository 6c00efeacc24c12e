package dev.parley.api.contexts;

import dev.parley.auth.SignInId;
import dev.parley.auth.SignInLog;
import dev.parley.http.ApiDependencies;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Reads and appends the events of one sign-in. For one thread.
final class LoggedSignIn implements SignInLog {

  private final ApiDependencies parts;
  private final Answerer by;
  private final AppendGuard appendGuard;
  private long seq;

  LoggedSignIn(ApiDependencies parts, Answerer by, AppendGuard appendGuard) {
    this.parts = parts;
    this.by = by;
    this.appendGuard = appendGuard;
  }

  @Override
  public RequestedSignIn requested(SignInId signInId) {
    var required =
        parts
            .log()
            .inspect(
                signInId.contextId(),
                state -> state.openAuth(signInId.authId()).map(open -> open.required()))
            .orElseThrow(
                () -> new Rejection.Conflict("not-wanted", "this sign-in is not requested"));
    var provider = Optional.ofNullable(required.provider()).orElse("");
    return new RequestedSignIn(
        parts.log().owner(signInId.contextId()), provider, required.authType());
  }

  @Override
  public void complete(SignInId signInId, String principal, ObjectNode metadata) {
    appendSignedIn(signInId, principal, metadata);
  }

  /// True if the sign-in is still open. If it is not, the same request has already completed it.
  ///
  /// @throws Rejection.NotFound if it was never requested
  /// @throws Rejection.Conflict if another request completed it, or it was withdrawn
  boolean open(SignInId signInId, String principal) {
    var open =
        parts
            .log()
            .inspect(signInId.contextId(), state -> state.openAuth(signInId.authId()).isPresent());
    if (!open) {
      appendSignedIn(signInId, principal, null);
    }
    return open;
  }

  /// The seq of the event that completed the sign-in.
  long seq() {
    return seq;
  }

  private void appendSignedIn(SignInId signInId, String principal, @Nullable ObjectNode metadata) {
    var said =
        parts
            .tasks()
            .completeSignIn(
                signInId.contextId(), signInId.authId(), by.as(principal), metadata, appendGuard);
    seq = said.first().seq();
  }
}
