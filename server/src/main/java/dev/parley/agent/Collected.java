package dev.parley.agent;

import dev.parley.model.Model;
import dev.parley.model.Reply;
import dev.parley.model.Retry;
import dev.parley.model.Sink;
import dev.parley.model.Thought;
import dev.parley.protocol.Event;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.task.Run;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Collects the text of a model, up to a limit, and drops its thoughts. Usage and retries are
/// appended to the log. Not thread-safe.
public final class Collected implements Sink {

  private final Run run;
  private final @Nullable Model shown;
  private final StringBuilder text = new StringBuilder();

  private Collected(Run run, @Nullable Model shown) {
    this.run = run;
    this.shown = shown;
  }

  /// Collects the text of `model` for a working task, whose status reports retries.
  public static Collected of(Run run, Model model) {
    return new Collected(run, model);
  }

  /// Collects the text of a model for a waiting task, whose status must not change.
  static Collected quiet(Run run) {
    return new Collected(run, null);
  }

  @Override
  public void text(String piece) {
    if (text.length() + (long) piece.length() <= Scribe.REPLY_MAX) {
      text.append(piece);
    }
  }

  @Override
  public void thinking(String piece) {}

  @Override
  public void thought(Thought thought) {}

  @Override
  public void retry(Retry retry) {
    text.setLength(0);
    if (shown != null) {
      run.emit(Retries.events(retry, shown.name()));
    } else {
      use(retry.usage());
    }
  }

  /// Appends the usage of the reply.
  public void used(Reply reply) {
    use(
        switch (reply) {
          case Reply.Answered answered -> answered.usage();
          case Reply.Failed failed -> failed.usage();
        });
  }

  private void use(@Nullable Usage usage) {
    if (usage != null) {
      run.emit(List.<Event>of(usage));
    }
  }

  /// The text of the last attempt.
  public String text() {
    return text.toString();
  }
}
