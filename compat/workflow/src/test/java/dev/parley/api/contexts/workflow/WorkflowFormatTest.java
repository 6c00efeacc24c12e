package dev.parley.api.contexts.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.RandomEvents;
import dev.parley.protocol.RandomTaskTrees;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/// The envelope of the workflow format: its fields (WORKFLOW-1 to WORKFLOW-8, WORKFLOW-10 to WORKFLOW-12), and the invariants of every tree
/// (WORKFLOW-14 to WORKFLOW-17, WORKFLOW-28).
class WorkflowFormatTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private EventLog log;
  private WorkflowFormat format;

  static LongStream seeds() {
    return LongStream.range(0, 25);
  }

  @BeforeEach
  void open() {
    log = new MemoryLog();
    log.create(CONTEXT, new ContextCreated("local", null, null));
    format = fresh();
  }

  @AfterEach
  void close() {
    log.close();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void every_kind_has_a_name_and_all_fields_of_that_name_in_snake_case(Kind kind) {
    var random = new RandomEvents(kind.code());
    for (var i = 0; i < 40; i++) {
      var entry = here(random.entry(random.event(kind)));

      var json = json(entry);

      var name = json.path("event_type").asString();
      assertThat(List.copyOf(json.propertyNames())).isEqualTo(WorkflowVocabulary.fields(name));
      assertThat(json.propertyNames()).allMatch(field -> field.matches("[a-z]+(_[a-z]+)*"));
      assertThat(new String(format.frame(entry), StandardCharsets.UTF_8))
          .startsWith("id: " + entry.position() + "\nevent: " + name + "\ndata: {")
          .endsWith("}\n\n")
          .hasLineCount(4);
    }
  }

  @Test
  void diagnostics_are_the_kinds_that_are_named_so() {
    var random = new RandomEvents(1);
    for (var kind : Kind.values()) {
      var name = json(here(random.entry(random.event(kind)))).path("event_type").asString();
      assertThat(WorkflowFormat.DIAGNOSTICS.contains(kind))
          .as(kind.wire())
          .isEqualTo(name.startsWith("workflow.diagnostic."));
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void a_sub_agent_and_the_call_that_spawned_it_name_each_other(long seed) {
    var events = events(seed);
    var calls =
        events.stream()
            .filter(event -> text(event, "event_type").equals("workflow.tool.started"))
            .collect(Collectors.toMap(event -> text(event, "call_id"), Function.identity()));
    var spawned = new HashMap<String, Set<String>>();
    for (var event : events) {
      var call = event.path("spawned_by_call_id");
      assertThat(text(event, "agent_level")).isEqualTo(call.isNull() ? "core" : "subagent");
      assertThat(event.path("invocation_id").asString().isEmpty()).isEqualTo(call.isNull());
      assertThat(event.path("parent_task_id").isNull()).isEqualTo(call.isNull());
      assertThat(event.path("run_id")).isEqualTo(event.path("task_id"));
      assertThat(event.path("parent_run_id")).isEqualTo(event.path("parent_task_id"));
      if (!call.isNull()) {
        var trigger = calls.get(call.asString());
        assertThat(text(trigger, "tool_name")).isEqualTo("subagent");
        assertThat(text(trigger, "task_id")).isEqualTo(text(event, "parent_task_id"));
        assertThat(event.path("call_id").isNull()).isFalse();
        spawned.computeIfAbsent(call.asString(), _ -> new HashSet<>()).add(text(event, "task_id"));
      }
    }
    for (var trigger : calls.values()) {
      var metadata = trigger.path("subagent_metadata");
      var tasks = spawned.getOrDefault(text(trigger, "call_id"), Set.of());
      assertThat(metadata.path("count").asInt(0)).isEqualTo(tasks.size());
      assertThat(metadata.path("task_ids").valueStream().map(JsonNode::asString).toList())
          .containsExactlyInAnyOrderElementsOf(tasks);
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void a_path_leads_from_the_root_and_every_run_ends_with_its_result(long seed) {
    var events = events(seed);
    var paths = new HashMap<String, List<String>>();
    var last = new HashMap<String, String>();
    for (var event : events) {
      if (!event.path("task_id").isNull()) {
        var task = text(event, "task_id");
        var path = event.path("path").valueStream().map(JsonNode::asString).toList();
        paths.putIfAbsent(task, path);
        assertThat(path).isEqualTo(paths.get(task));
        assertThat(text(event, "correlation_id"))
            .isEqualTo(path.isEmpty() ? task : path.getFirst());
        if (!path.isEmpty()) {
          assertThat(path.getLast()).isEqualTo(text(event, "parent_task_id"));
          assertThat(path.subList(0, path.size() - 1)).isEqualTo(paths.get(path.getLast()));
        }
        last.put(task, text(event, "event_type"));
      }
    }
    assertThat(last.values()).containsOnly("workflow.result.final");
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void a_batch_is_counted_from_its_first_sub_agent_to_its_last(long seed) {
    var completed = new HashMap<String, JsonNode>();
    var progress = new HashMap<String, Integer>();
    for (var event : events(seed)) {
      var call = event.path("call_id").asString("");
      switch (text(event, "event_type")) {
        case "workflow.subflow.progress" -> {
          var now = event.path("completed").asInt();
          assertThat(now)
              .isBetween(progress.getOrDefault(call, 0), event.path("total").asInt() - 1);
          progress.put(call, now);
        }
        case "workflow.subflow.completed" -> assertThat(completed.put(call, event)).isNull();
        case "workflow.tool.completed" -> {
          if (text(event, "tool_name").equals("subagent")) {
            var end = completed.get(call);
            assertThat(end.path("total")).isEqualTo(event.path("subagent_metadata").path("count"));
            assertThat(end.path("success").asInt() + end.path("failed").asInt())
                .isEqualTo(end.path("total").asInt());
            assertThat(end.path("tokens").asLong()).isEqualTo(tokens(event));
          }
        }
        default -> {} // Not about a batch.
      }
    }
  }

  @Test
  void a_spawning_call_that_somebody_stopped_still_says_what_it_spawned() {
    var root = Origin.root(new TaskId("t"), new AgentTypeId("a"));
    var call = new ToolCallId("x");
    var metadata = new SubagentMetadata(List.of(new TaskId("s")), 1, Mode.SERIAL);
    log.append(
        CONTEXT,
        AppendGuard.none(),
        Decision.always(
            new EventDraft(
                root, new TaskCreated(Initiator.USER, null, null, "go", null, null, null, null)),
            new EventDraft(
                root,
                new ToolStart(call, "agent_b", Json.object(), null, null, null, null, metadata)),
            new EventDraft(
                root,
                new ToolComplete(
                    call, "agent_b", false, null, "canceled", null, Outcome.CANCELED, null))));

    var end = json(log.read(CONTEXT, Position.START, 10).getLast());

    assertThat(text(end, "tool_name")).isEqualTo("subagent");
    assertThat(text(end, "original_tool_name")).isEqualTo("agent_b");
    assertThat(end.path("subagent_metadata").path("count").asInt()).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void what_is_written_does_not_depend_on_where_the_reader_came_in(long seed) {
    var entries = written(seed);
    var expected = entries.stream().map(this::json).toList();

    for (var i = 0; i < entries.size(); i += 7) {
      assertThat(Json.mapper().readTree(fresh().json(entries.get(i)))).isEqualTo(expected.get(i));
    }
    for (var i = entries.size() - 1; i >= 0; i -= 5) {
      assertThat(json(entries.get(i))).isEqualTo(expected.get(i));
    }
  }

  private long tokens(JsonNode toolCompleted) {
    var below =
        toolCompleted
            .path("subagent_metadata")
            .path("task_ids")
            .valueStream()
            .map(JsonNode::asString)
            .collect(Collectors.toSet());
    var sum = 0L;
    for (var entry : log.read(CONTEXT, Position.START, Integer.MAX_VALUE)) {
      var event = entry.event();
      if (event instanceof Usage usage) {
        var json = json(entry);
        var line = new HashSet<String>();
        json.path("path").forEach(task -> line.add(task.asString()));
        line.add(text(json, "task_id"));
        line.retainAll(below);
        sum += line.isEmpty() ? 0 : usage.inputTokens() + usage.outputTokens();
      }
    }
    return sum;
  }

  private List<JsonNode> events(long seed) {
    return written(seed).stream().map(this::json).toList();
  }

  private List<Entry> written(long seed) {
    var drafts = new ArrayList<EventDraft>();
    for (var entry : new RandomTaskTrees(seed).entries().stream().skip(1).toList()) {
      drafts.add(new EventDraft(entry.origin(), entry.event()));
    }
    log.append(CONTEXT, AppendGuard.none(), Decision.always(drafts.toArray(EventDraft[]::new)));
    return log.read(CONTEXT, Position.START, Integer.MAX_VALUE);
  }

  private WorkflowFormat fresh() {
    return new WorkflowFormat(
        new SubagentTreeCache(log, (_, _, _) -> Position.START), (_, _) -> Json.object());
  }

  private JsonNode json(Entry entry) {
    return Json.mapper().readTree(format.json(entry));
  }

  private static Entry here(Entry entry) {
    return new Entry(
        CONTEXT,
        entry.position(),
        entry.eventId(),
        entry.timestamp(),
        entry.origin(),
        entry.event());
  }

  private static String text(JsonNode json, String field) {
    return json.path(field).asString();
  }
}
