package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.MessageView;
import java.io.PrintStream;
import java.util.List;

/// Prints a context as text.
final class ContextText {

  private static final int NAME_MAX = 60;

  private final PrintStream out;
  private final TextStyle textStyle;

  ContextText(PrintStream out, TextStyle textStyle) {
    this.out = out;
    this.textStyle = textStyle;
  }

  void printHeader(ContextView context) {
    var title = context.title();
    out.println(textStyle.bold(title == null ? "(no title)" : TextSanitizer.line(title, NAME_MAX)));
    out.println(
        textStyle.dim(
            "context %s, messages: %d, position: %s"
                .formatted(context.contextId(), context.messageCount(), context.position())));
  }

  void printMessage(MessageView message) {
    var who = message.role().wire() + (message.agentId() == null ? "" : " " + message.agentId());
    out.println();
    out.println(
        textStyle.bold(who) + (message.editedAt() == null ? "" : textStyle.dim(" (edited)")));
    out.println(TextSanitizer.text(message.content()).strip());
  }

  void printDetails(ContextSnapshot snapshot) {
    for (var partial : snapshot.partialTexts()) {
      out.println();
      out.println(textStyle.bold("still writing") + textStyle.dim(" task " + partial.taskId()));
      out.println(TextSanitizer.text(partial.text()).strip());
    }
    if (!snapshot.tasks().isEmpty()) {
      section("Tasks");
      TasksCommand.table(snapshot.tasks()).print(out, textStyle);
    }
    artifacts(snapshot.artifacts());
    usage(snapshot.usage());
    out.flush();
  }

  private void artifacts(List<ArtifactView> artifacts) {
    if (!artifacts.isEmpty()) {
      section("Artifacts");
      ArtifactsCommand.table(artifacts).print(out, textStyle);
    }
  }

  private void usage(List<ContextSnapshot.UsageView> usage) {
    if (!usage.isEmpty()) {
      section("Usage");
      usageTable(usage).print(out, textStyle);
    }
  }

  static AlignedTable usageTable(List<ContextSnapshot.UsageView> usage) {
    var alignedTable = new AlignedTable("MODEL", "CALLS", "TOKENS IN", "TOKENS OUT", "USD");
    for (var model : usage) {
      var cost = model.costUsd();
      alignedTable.row(
          TextSanitizer.line(model.model(), NAME_MAX),
          Long.toString(model.calls()),
          Long.toString(model.allInputTokens()),
          Long.toString(model.outputTokens()),
          cost == null ? "" : cost.toPlainString());
    }
    return alignedTable;
  }

  private void section(String title) {
    out.println();
    out.println(textStyle.bold(title));
  }
}
