package dev.parley.api.contexts.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.RandomEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// `docs/workflow.md` agrees with the code on the names of kinds, and on their fields.
class WorkflowDocsTest {

  private static final Path GUIDE = Path.of("../../docs/workflow.md");
  private static final Path RECORDS =
      Path.of("src/main/java/dev/parley/api/contexts/workflow/WorkflowEvent.java");
  private static final String BEGIN = "<!-- From here on written by WorkflowDocsTest. -->\n";
  private static final Pattern RECORD =
      Pattern.compile("((?:^ *///.*\n)+) *record (\\w+)\\(", Pattern.MULTILINE);

  /// Enough samples for every role of a message and every state of a task.
  private static final int SAMPLES = 200;

  /// Run with `-Dparley.update=true` to update the file.
  @Test
  void the_guide_is_that_of_the_code() throws IOException {
    var guide = Files.readString(GUIDE);
    var whole = guide.substring(0, guide.indexOf(BEGIN)) + BEGIN + kinds() + names();
    if (Boolean.getBoolean("parley.update")) {
      Files.writeString(GUIDE, whole);
    }

    assertThat(GUIDE).content().isEqualTo(whole);
  }

  private static String kinds() {
    var text = new StringBuilder("\n## Which event has which name\n\n");
    text.append("| Event | Name | With `debug=1` only |\n|---|---|---|\n");
    var context = new ContextId("c");
    try (var log = new MemoryLog()) {
      log.create(context, new ContextCreated("local", null, null));
      var format =
          new WorkflowFormat(
              new SubagentTreeCache(log, (_, _, _) -> Position.START), (_, _) -> Json.object());
      for (var kind : Kind.values()) {
        var random = new RandomEvents(kind.code());
        var names = new TreeSet<String>();
        for (var i = 0; i < SAMPLES; i++) {
          names.add(name(format, context, random.entry(random.event(kind))));
        }
        if (kind == Kind.SUBTASK_COMPLETE) {
          names.add("workflow.subflow.completed");
          names.add("workflow.subflow.progress");
        }
        var listed = names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
        var debug = kind.internal() || WorkflowFormat.DIAGNOSTICS.contains(kind);
        text.append("| [`%s`](events.md#%s) | ".formatted(kind.wire(), anchor(kind)));
        text.append(listed).append(" | ").append(debug ? "yes" : "").append(" |\n");
      }
    }
    return text.toString();
  }

  private static String names() throws IOException {
    var source = Files.readString(RECORDS);
    var text = new StringBuilder("\n## The fields of each name\n\n");
    text.append("| Name | What it says | Fields beside the envelope |\n|---|---|---|\n");
    for (var name : WorkflowVocabulary.RECORDS.entrySet()) {
      var fields =
          WorkflowVocabulary.names(name.getValue())
              .map(field -> "`" + field + "`")
              .collect(Collectors.joining(", "));
      text.append("| `%s` | ".formatted(name.getKey()));
      text.append(sentence(source, name.getValue())).append(" | ").append(fields).append(" |\n");
    }
    return text.toString();
  }

  private static String sentence(String source, Class<?> record) {
    return RECORD
        .matcher(source)
        .results()
        .filter(found -> found.group(2).equals(record.getSimpleName()))
        .map(found -> found.group(1).replaceAll(" *///", "").replaceAll("\\s+", " ").strip())
        .findFirst()
        .orElseThrow();
  }

  private static String anchor(Kind kind) {
    return Arrays.stream(kind.wire().split(":", -1)).collect(Collectors.joining());
  }

  private static String name(WorkflowFormat format, ContextId context, Entry entry) {
    var here =
        new Entry(
            context,
            entry.position(),
            entry.eventId(),
            entry.timestamp(),
            entry.origin(),
            entry.event());
    return Json.mapper().readTree(format.json(here)).path("event_type").asString();
  }
}
