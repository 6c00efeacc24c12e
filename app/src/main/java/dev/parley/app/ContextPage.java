package dev.parley.app;

import dev.parley.client.ArtifactInfo;
import dev.parley.client.ContextInfo;
import dev.parley.client.MessageInfo;
import dev.parley.client.Snapshot;
import dev.parley.client.UsageInfo;
import java.io.PrintStream;
import java.util.List;

/// Prints a context as text.
final class ContextPage {

  private static final int NAME_MAX = 60;

  private final PrintStream out;
  private final Style style;

  ContextPage(PrintStream out, Style style) {
    this.out = out;
    this.style = style;
  }

  void head(ContextInfo context) {
    var title = context.title();
    out.println(style.bold(title == null ? "(no title)" : Clean.line(title, NAME_MAX)));
    out.println(
        style.dim(
            "context %s, messages: %d, position: %s"
                .formatted(context.contextId(), context.messageCount(), context.position())));
  }

  void message(MessageInfo message) {
    var who = message.role().wire() + (message.agentId() == null ? "" : " " + message.agentId());
    out.println();
    out.println(style.bold(who) + (message.editedAt() == null ? "" : style.dim(" (edited)")));
    out.println(Clean.text(message.content()).strip());
  }

  void rest(Snapshot snapshot) {
    for (var partial : snapshot.partialTexts()) {
      out.println();
      out.println(style.bold("still writing") + style.dim(" task " + partial.taskId()));
      out.println(Clean.text(partial.text()).strip());
    }
    if (!snapshot.tasks().isEmpty()) {
      section("Tasks");
      TasksCommand.table(snapshot.tasks()).print(out, style);
    }
    artifacts(snapshot.artifacts());
    usage(snapshot.usage());
    out.flush();
  }

  private void artifacts(List<ArtifactInfo> artifacts) {
    if (!artifacts.isEmpty()) {
      section("Artifacts");
      ArtifactsCommand.table(artifacts).print(out, style);
    }
  }

  private void usage(List<UsageInfo> usage) {
    if (!usage.isEmpty()) {
      section("Usage");
      usageTable(usage).print(out, style);
    }
  }

  static Table usageTable(List<UsageInfo> usage) {
    var table = new Table("MODEL", "CALLS", "TOKENS IN", "TOKENS OUT", "USD");
    for (var model : usage) {
      var cost = model.costUsd();
      table.row(
          Clean.line(model.model(), NAME_MAX),
          Long.toString(model.calls()),
          Long.toString(model.allInputTokens()),
          Long.toString(model.outputTokens()),
          cost == null ? "" : cost.toPlainString());
    }
    return table;
  }

  private void section(String title) {
    out.println();
    out.println(style.bold(title));
  }
}
