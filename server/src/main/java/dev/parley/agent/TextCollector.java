package dev.parley.agent;

import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;
import dev.parley.protocol.Event;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.task.TaskRun;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Collects the text of a model, up to a limit, and drops its thoughts. Usage and retries are
/// appended to the log. Not thread-safe.
public final class TextCollector implements ModelSink {

  private final TaskRun taskRun;
  private final @Nullable Model reportedModel;
  private final StringBuilder text = new StringBuilder();

  private TextCollector(TaskRun taskRun, @Nullable Model shown) {
    this.taskRun = taskRun;
    this.reportedModel = shown;
  }

  /// Collects the text of `model` for a working task, whose status reports retries.
  public static TextCollector of(TaskRun taskRun, Model model) {
    return new TextCollector(taskRun, model);
  }

  /// Collects the text of a model for a waiting task, whose status must not change.
  static TextCollector withoutStatus(TaskRun taskRun) {
    return new TextCollector(taskRun, null);
  }

  @Override
  public void text(String piece) {
    if (text.length() + (long) piece.length() <= ModelOutputWriter.REPLY_MAX) {
      text.append(piece);
    }
  }

  @Override
  public void thinking(String piece) {}

  @Override
  public void thought(ModelThought modelThought) {}

  @Override
  public void retry(ModelRetry modelRetry) {
    text.setLength(0);
    if (reportedModel != null) {
      taskRun.emit(RetryEvents.events(modelRetry, reportedModel.name()));
    } else {
      emitUsage(modelRetry.usage());
    }
  }

  /// Appends the usage of the reply.
  public void reportUsage(ModelReply modelReply) {
    emitUsage(
        switch (modelReply) {
          case ModelReply.ModelAnswer modelAnswer -> modelAnswer.usage();
          case ModelReply.ModelError modelError -> modelError.usage();
        });
  }

  private void emitUsage(@Nullable Usage usage) {
    if (usage != null) {
      taskRun.emit(List.<Event>of(usage));
    }
  }

  /// The text of the last attempt.
  public String text() {
    return text.toString();
  }
}
