package dev.parley.server;

import dev.parley.audit.AuditEvent;
import dev.parley.audit.AuditEvent.Actor;
import dev.parley.audit.AuditTrail;
import dev.parley.http.CurrentCaller;
import dev.parley.log.EventDraft;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Records the approvals and answers of people in the audit trail, whatever API they came through.
final class AnswerAudit implements MeteredLog.AppendObserver {

  private volatile @Nullable AuditTrail trail;

  /// Records in this trail from now on.
  void start(AuditTrail opened) {
    trail = opened;
  }

  @Override
  public void appended(ContextId context, List<EventDraft> drafts) {
    var opened = trail;
    if (opened == null) {
      return;
    }
    for (var draft : drafts) {
      if (draft.event() instanceof InputReceived answer
          && answer.providedBy() == InputEvent.Provider.USER) {
        opened.record(event(context, answer));
      } else if (draft.event() instanceof AuthCompleted signIn) {
        opened.record(
            AuditEvent.done(
                    actor(signIn.userId()), "credential-stored", "context:" + context.value())
                .with("authId", signIn.authId().value()));
      }
    }
  }

  private static AuditEvent event(ContextId context, InputReceived answer) {
    var approved = approved(answer);
    var event =
        AuditEvent.done(
                actor(answer.userId()),
                approved == null ? "answer" : "approval",
                "context:" + context.value())
            .with("inputId", answer.inputId().value());
    return approved == null ? event : event.with("approved", approved.toString());
  }

  /// Whether a call was approved; null if this is no answer of that kind.
  private static @Nullable Boolean approved(InputReceived answer) {
    var value = answer.value();
    if (value == null) {
      return null;
    }
    var decision = value.isBoolean() ? value : value.path("approved");
    return decision.isBoolean() ? (Boolean) decision.asBoolean() : null;
  }

  private static Actor actor(@Nullable String principal) {
    return CurrentCaller.actor()
        .orElseGet(() -> new Actor(principal == null ? "" : principal, "unknown", "", "", ""));
  }
}
