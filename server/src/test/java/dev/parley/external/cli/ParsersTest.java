package dev.parley.external.cli;

import static dev.parley.external.cli.CliFixtures.all;
import static dev.parley.external.cli.CliFixtures.events;
import static dev.parley.external.cli.CliFixtures.read;
import static dev.parley.external.cli.CliFixtures.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParsersTest {

  private static final String CALL =
      """
      {"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","model":"claude","usage":{"input_tokens":3}}}}
      {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}}
      {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}}
      {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}}
      {"type":"stream_event","event":{"type":"content_block_stop","index":0}}
      {"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}}}
      {"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"command\\":"}}}
      {"type":"stream_event","event":{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t2","name":"List","input":{}}}}
      {"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\\"ls\\"}"}}}
      {"type":"assistant","message":{"id":"m1","model":"claude","content":[{"type":"thinking","thinking":"hm"}],"usage":{"output_tokens":1}}}
      {"type":"stream_event","event":{"type":"content_block_stop","index":1}}
      {"type":"stream_event","event":{"type":"content_block_stop","index":2}}
      {"type":"assistant","message":{"id":"m1","model":"claude","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"output_tokens":1}}}
      {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}}
      {"type":"stream_event","event":{"type":"message_stop"}}
      """;

  // AGENT-13, AGENT-23
  @Test
  void claude_deltas_are_reported_once_though_the_whole_message_follows() {
    var said = events("claude-stream.jsonl");

    assertThat(all(said, ProgramEvent.TextDelta.class))
        .extracting(ProgramEvent.TextDelta::piece)
        .containsExactly("Hello", " from", " the", " fake", " model.");
    assertThat(all(said, ProgramEvent.TextEnd.class)).hasSize(1);
    assertThat(all(said, ProgramEvent.SessionKnown.class))
        .containsExactly(new ProgramEvent.SessionKnown("c6bf0959-9db4-4bdb-afe4-c56b156bfdb3"));
    assertThat(all(said, ProgramEvent.SessionMark.class))
        .containsExactly(new ProgramEvent.SessionMark("fed80eb7-8a6a-4f3f-9de3-5622220ccbbd"));
    assertThat(all(said, ProgramEvent.TurnEnded.class))
        .containsExactly(new ProgramEvent.TurnEnded(true, "Hello from the fake model.", null));
  }

  // AGENT-24
  @Test
  void usage_of_claude_is_counted_once_a_message_and_the_cost_once_a_turn() {
    assertThat(all(events("claude-stream.jsonl"), ProgramEvent.UsageReported.class))
        .extracting(ProgramEvent.UsageReported::usage)
        .containsExactly(
            new Usage("claude-opus-4-8", 12, 6, 0L, 0L, null),
            new Usage("claude-opus-4-8", 0, 0, 0L, 0L, new BigDecimal("0.00021")));
    assertThat(all(events("claude-tool.jsonl"), ProgramEvent.UsageReported.class))
        .extracting(ProgramEvent.UsageReported::usage)
        .containsExactly(
            new Usage("claude-opus-4-8", 24, 26, 0L, 0L, new BigDecimal("0.0007700000000000001")));
  }

  // AGENT-24
  @Test
  void a_whole_message_after_its_end_is_not_counted_again() {
    var parser = new ClaudeParser();
    var said = new ArrayList<ProgramEvent>();
    for (var id : List.of("m1", "m2")) {
      var lines =
          """
          {"type":"stream_event","event":{"type":"message_start","message":{"id":"ID","model":"claude","usage":{"input_tokens":10,"output_tokens":1}}}}
          {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}}
          {"type":"stream_event","event":{"type":"message_stop"}}
          {"type":"assistant","message":{"id":"ID","model":"claude","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":10,"output_tokens":7}}}
          """;
      said.addAll(read(parser, lines.replace("ID", id).lines().toList()));
    }
    said.addAll(parser.read("{\"type\":\"result\",\"result\":\"x\",\"total_cost_usd\":0.25}"));

    assertThat(all(said, ProgramEvent.UsageReported.class))
        .extracting(ProgramEvent.UsageReported::usage)
        .containsExactly(
            new Usage("claude", 10, 7, 0L, 0L, null),
            new Usage("claude", 10, 7, 0L, 0L, null),
            new Usage("claude", 0, 0, 0L, 0L, new BigDecimal("0.25")));
  }

  private static final String OLD_RESULT =
      "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"Old words\","
          + "\"usage\":{\"input_tokens\":%d,\"output_tokens\":%d},\"total_cost_usd\":%s}";

  @Test
  void a_result_without_sums_per_model_has_the_usage_of_its_turn() {
    var parser = new ClaudeParser();
    var said = new ArrayList<ProgramEvent>();
    for (var cost : List.of("0.5", "0.75")) {
      said.addAll(parser.read("{\"type\":\"assistant\",\"content\":\"Old words\"}"));
      said.addAll(parser.read(OLD_RESULT.formatted(3, 4, cost)));
    }

    assertThat(text(said)).isEqualTo("Old wordsOld words");
    assertThat(all(said, ProgramEvent.UsageReported.class))
        .extracting(ProgramEvent.UsageReported::usage)
        .containsExactly(
            new Usage("claude", 3, 4, 0L, 0L, new BigDecimal("0.5")),
            new Usage("claude", 3, 4, 0L, 0L, new BigDecimal("0.25")));
  }

  @ParameterizedTest
  @CsvSource({"10, 7, 10, 7", "10, 9, 10, 9", "4, 4, 10, 7"})
  void usage_that_messages_reported_is_not_counted_again_at_the_end(
      int input, int output, long inputSum, long outputSum) {
    var parser = new ClaudeParser();
    var said =
        new ArrayList<>(
            parser.read(
                "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"model\":\"c\",\"content\":[],"
                    + "\"usage\":{\"input_tokens\":10,\"output_tokens\":7}}}"));
    said.addAll(parser.read(OLD_RESULT.formatted(input, output, "0.5")));

    var usages =
        all(said, ProgramEvent.UsageReported.class).stream()
            .map(ProgramEvent.UsageReported::usage)
            .toList();
    assertThat(usages.stream().mapToLong(Usage::inputTokens).sum()).isEqualTo(inputSum);
    assertThat(usages.stream().mapToLong(Usage::outputTokens).sum()).isEqualTo(outputSum);
    assertThat(usages).extracting(Usage::model).containsOnly("c");
  }

  @Test
  void the_cost_of_several_models_without_prices_is_reported_once() {
    var said =
        new ClaudeParser()
            .read(
                """
                {"type":"result","total_cost_usd":0.25,"modelUsage":{"a":{"inputTokens":1},"b":{"inputTokens":2}}}\
                """);

    assertThat(all(said, ProgramEvent.UsageReported.class))
        .extracting(usageReported -> usageReported.usage().costUsd())
        .containsExactly(new BigDecimal("0.25"), null);
  }

  @Test
  void a_turn_of_claude_that_is_cut_off_still_tells_what_it_cost() {
    var lines = CliFixtures.lines("claude-tool.jsonl");

    assertThat(all(read(new ClaudeParser(), lines.subList(0, 4)), ProgramEvent.UsageReported.class))
        .extracting(usageReported -> usageReported.usage().inputTokens())
        .containsExactly(12L, 12L);
  }

  // AGENT-17
  @Test
  void a_tool_call_of_claude_and_its_result_are_joined() {
    var said = events("claude-tool.jsonl");

    var called = all(said, ProgramEvent.ToolCalled.class).getFirst();
    assertThat(called.name()).isEqualTo("Bash");
    assertThat(called.arguments().path("command").asString()).isEqualTo("echo tool-ran-$((6*7))");
    var ended = all(said, ProgramEvent.ToolEnded.class).getFirst();
    assertThat(ended.id()).isEqualTo(called.id()).isEqualTo("toolu_01fake");
    assertThat(ended.result().asString()).isEqualTo("tool-ran-42");
    assertThat(text(said)).isEqualTo("Hello from the fake model.");
  }

  // AGENT-18, AGENT-19
  @Test
  void arguments_in_pieces_are_joined_by_block() {
    var said = read(new ClaudeParser(), CALL.lines().toList());

    assertThat(all(said, ProgramEvent.ToolCalled.class))
        .containsExactly(
            new ProgramEvent.ToolCalled(
                null, "t1", "Bash", Json.object().put("command", "ls"), null),
            new ProgramEvent.ToolCalled(null, "t2", "List", Json.object(), null));
    assertThat(all(said, ProgramEvent.ThinkingDelta.class))
        .containsExactly(new ProgramEvent.ThinkingDelta(null, "hm"));
    assertThat(all(said, ProgramEvent.UsageReported.class))
        .containsExactly(new ProgramEvent.UsageReported(new Usage("claude", 3, 9, 0L, 0L, null)));
    assertThat(all(said, ProgramEvent.KeptLine.class)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\"}}",
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\"}}",
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_stop\"}}",
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_stop\"}}"
      })
  // AGENT-12
  void lines_with_nothing_to_show_are_skipped(String line) {
    assertThat(new ClaudeParser().read(line)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"assistant\",\"content\":\"Hi\"}",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Hi\"}",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}"
      })
  // AGENT-15
  void the_old_forms_of_a_message_are_parsed(String line) {
    assertThat(new ClaudeParser().read(line))
        .containsExactly(
            new ProgramEvent.TextDelta(null, "Hi"), new ProgramEvent.TextEnd(null, true));
  }

  // AGENT-16
  @Test
  void an_old_result_ends_the_turn() {
    assertThat(new ClaudeParser().read("{\"type\":\"result\",\"result\":\"Hi\"}"))
        .contains(new ProgramEvent.TurnEnded(true, "Hi", null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rate_limit_event",
        "tool_progress",
        "auth_status",
        "prompt_suggestion",
        "tomorrow"
      })
  // AGENT-21
  void lines_of_unknown_types_are_kept(String type) {
    assertThat(new ClaudeParser().read("{\"type\":\"" + type + "\"}"))
        .containsExactly(new ProgramEvent.KeptLine(ProgramEvent.RawReason.UNKNOWN));
  }

  // AGENT-7, AGENT-22
  @Test
  void noise_is_recognized_and_colours_are_removed() {
    var parser = new GeminiParser();

    assertThat(parser.read("Both GOOGLE_API_KEY and GEMINI_API_KEY are set."))
        .containsExactly(new ProgramEvent.KeptLine(ProgramEvent.RawReason.NOISE));
    assertThat(parser.read("{\"type\":"))
        .containsExactly(new ProgramEvent.KeptLine(ProgramEvent.RawReason.NOISE));
    assertThat(
            parser.read(
                "\u001b[2K\u001b[1;32m{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Hi\"}\u001b[0m\r"))
        .contains(new ProgramEvent.TextDelta(null, "Hi"));
  }

  @Test
  void a_failed_turn_says_why() {
    assertThat(
            new ClaudeParser()
                .read("{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":false}"))
        .contains(
            new ProgramEvent.TurnEnded(
                false,
                null,
                new ProgramEvent.TurnFailure(ErrorCode.LIMIT, "error_max_turns", false)));
    assertThat(
            new ClaudeParser()
                .read(
                    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,"
                        + "\"result\":\"Invalid key\",\"api_error_status\":401}"))
        .contains(
            new ProgramEvent.TurnEnded(
                false, null, new ProgramEvent.TurnFailure(ErrorCode.AUTH, "Invalid key", false)));
  }

  // AGENT-25
  @Test
  void output_of_a_sub_agent_is_separate() {
    var said =
        read(
            new ClaudeParser(),
            List.of(
                "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\","
                    + "\"name\":\"Task\",\"input\":{\"subagent_type\":\"Explore\",\"prompt\":\"look\"}}]}}",
                "{\"type\":\"assistant\",\"parent_tool_use_id\":\"t1\",\"message\":{\"id\":\"m2\","
                    + "\"content\":[{\"type\":\"text\",\"text\":\"found\"}]}}"));

    assertThat(all(said, ProgramEvent.ToolCalled.class).getFirst().subagent())
        .isEqualTo(new ProgramEvent.SubagentStart("Explore", "look"));
    assertThat(all(said, ProgramEvent.TextDelta.class))
        .containsExactly(new ProgramEvent.TextDelta("t1", "found"));
  }

  @Test
  void a_question_for_permission_is_understood() {
    assertThat(
            new ClaudeParser()
                .read(
                    "{\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":\"can_use_tool\","
                        + "\"tool_name\":\"Bash\",\"input\":{\"command\":\"ls\"},\"tool_use_id\":\"t1\"}}"))
        .containsExactly(
            new ProgramEvent.PermissionAsked(
                "r1",
                "Bash",
                Json.object().put("command", "ls"),
                "t1",
                false,
                new ClaudeApprovalReply("r1")));
  }

  @Test
  void codex_that_asks_is_understood() {
    var said = events("codex-server.jsonl");

    assertThat(text(said)).isEqualTo("Hello there");
    assertThat(all(said, ProgramEvent.LineToSend.class))
        .singleElement()
        .matches(r -> r.line().contains("hello"));
    assertThat(all(said, ProgramEvent.PermissionAsked.class))
        .extracting(ProgramEvent.PermissionAsked::tool, ProgramEvent.PermissionAsked::call)
        .containsExactly(tuple("shell", "c1"));
    assertThat(all(said, ProgramEvent.ToolEnded.class))
        .extracting(ProgramEvent.ToolEnded::error)
        .containsExactly("declined");
    assertThat(all(said, ProgramEvent.UsageReported.class))
        .extracting(s -> s.usage().inputTokens())
        .containsExactly(16L);
    assertThat(all(said, ProgramEvent.TurnEnded.class))
        .singleElement()
        .matches(ProgramEvent.TurnEnded::success);
  }

  @Test
  void gemini_cli_that_asks_is_understood() {
    var said = events("gemini-acp.jsonl");

    assertThat(text(said)).isEqualTo("Hello there");
    assertThat(all(said, ProgramEvent.LineToSend.class))
        .singleElement()
        .matches(r -> r.line().contains("hello"));
    assertThat(all(said, ProgramEvent.PermissionAsked.class))
        .extracting(
            ProgramEvent.PermissionAsked::tool,
            permissionAsked -> permissionAsked.arguments().path("title").asString())
        .containsExactly(tuple("run_shell_command", "touch made"));
    assertThat(all(said, ProgramEvent.PermissionAsked.class).getFirst().reply().deny("no"))
        .contains("\"optionId\":\"cancel\"");
    assertThat(all(said, ProgramEvent.UsageReported.class)).hasSize(2);
    assertThat(all(said, ProgramEvent.TurnEnded.class))
        .singleElement()
        .matches(ProgramEvent.TurnEnded::success);
  }

  @Test
  void a_program_that_begins_no_session_has_failed() {
    assertThat(new AcpParser("hello", null).read("{\"id\":2,\"result\":{}}"))
        .first()
        .matches(
            programEvent ->
                programEvent instanceof ProgramEvent.TurnEnded turnEnded
                    && !turnEnded.success()
                    && turnEnded.failure() != null
                    && turnEnded.failure().message().contains("no sessionId"));
  }

  // AGENT-93
  @Test
  void codex_is_parsed() {
    var said = events("codex-tool.jsonl");

    assertThat(text(said)).isEqualTo("Hello from the fake model.");
    assertThat(all(said, ProgramEvent.SessionKnown.class))
        .containsExactly(new ProgramEvent.SessionKnown("01a1dd08-eb15-7160-9fd5-447793d7332c"));
    assertThat(all(said, ProgramEvent.ToolCalled.class))
        .extracting(ProgramEvent.ToolCalled::id, ProgramEvent.ToolCalled::name)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("item_1", "shell"));
    assertThat(
            all(said, ProgramEvent.ToolEnded.class).getFirst().result().path("output").asString())
        .isEqualTo("tool-ran-42\n");
    assertThat(all(said, ProgramEvent.ErrorMessage.class)).hasSize(1);
    assertThat(all(said, ProgramEvent.UsageReported.class))
        .containsExactly(new ProgramEvent.UsageReported(new Usage("gpt", 20, 10, 0L, 0L, null)));
    assertThat(all(said, ProgramEvent.TurnEnded.class))
        .containsExactly(new ProgramEvent.TurnEnded(true, "Hello from the fake model.", null));
  }

  @Test
  void codex_tells_sums_over_its_session_and_what_is_new_of_them_counts() {
    var before = Json.object().put("input_tokens", 20).put("output_tokens", 10);
    var line = "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":%d,\"output_tokens\":12}}";

    assertThat(
            all(
                read(new CodexParser("gpt", before), List.of(line.formatted(50))),
                ProgramEvent.UsageReported.class))
        .containsExactly(new ProgramEvent.UsageReported(new Usage("gpt", 30, 2, 0L, 0L, null)));
    assertThat(
            all(
                read(new CodexParser("gpt", before), List.of(line.formatted(15))),
                ProgramEvent.UsageReported.class))
        .containsExactly(new ProgramEvent.UsageReported(new Usage("gpt", 15, 12, 0L, 0L, null)));
  }

  @Test
  void claude_tells_sums_over_its_process_and_what_is_new_of_them_counts() {
    var line =
        "{\"type\":\"result\",\"subtype\":\"success\",\"modelUsage\":"
            + "{\"m\":{\"inputTokens\":%d,\"outputTokens\":4,\"costUSD\":%s}}}";

    var said =
        read(new ClaudeParser(), List.of(line.formatted(3, "0.5"), line.formatted(8, "0.75")));

    assertThat(all(said, ProgramEvent.UsageReported.class))
        .containsExactly(
            new ProgramEvent.UsageReported(new Usage("m", 3, 4, 0L, 0L, new BigDecimal("0.5"))),
            new ProgramEvent.UsageReported(new Usage("m", 5, 0, 0L, 0L, new BigDecimal("0.25"))));
  }

  @Test
  void sub_agents_of_codex_end_when_somebody_hears_of_it() {
    var said =
        read(
            new CodexParser("gpt", null),
            List.of(
                "{\"type\":\"item.started\",\"item\":{\"id\":\"i1\",\"type\":\"collab_tool_call\",\"tool\":\"spawn_agent\","
                    + "\"prompt\":\"look\",\"receiver_thread_ids\":[],\"agents_states\":{},\"status\":\"in_progress\"}}",
                "{\"type\":\"item.completed\",\"item\":{\"id\":\"i1\",\"type\":\"collab_tool_call\",\"tool\":\"spawn_agent\","
                    + "\"prompt\":\"look\",\"receiver_thread_ids\":[\"th\"],\"agents_states\":{\"th\":{\"status\":\"running\"}},"
                    + "\"status\":\"completed\"}}",
                "{\"type\":\"item.completed\",\"item\":{\"id\":\"i2\",\"type\":\"collab_tool_call\",\"tool\":\"wait\","
                    + "\"receiver_thread_ids\":[\"th\"],\"agents_states\":{\"th\":{\"status\":\"completed\",\"message\":\"found\"}},"
                    + "\"status\":\"completed\"}}"));

    assertThat(all(said, ProgramEvent.ToolCalled.class).getFirst().subagent())
        .isEqualTo(new ProgramEvent.SubagentStart(null, "look"));
    assertThat(all(said, ProgramEvent.ToolEnded.class))
        .extracting(ProgramEvent.ToolEnded::id)
        .containsExactly("i2", "i1");
  }

  // AGENT-93
  @Test
  void gemini_is_parsed() {
    var said = events("gemini-stream.jsonl");

    assertThat(text(said)).isEqualTo("Hello from the fake model.");
    assertThat(all(said, ProgramEvent.SessionKnown.class)).hasSize(1);
    assertThat(all(said, ProgramEvent.UsageReported.class))
        .containsExactly(new ProgramEvent.UsageReported(new Usage("fake", 5, 3, null, 0L, null)));
    assertThat(all(said, ProgramEvent.TurnEnded.class))
        .containsExactly(new ProgramEvent.TurnEnded(true, null, null));
  }

  // AGENT-92
  @Test
  void any_program_is_parsed_by_a_mapping() {
    var lineMapping =
        new LineMapping(
            "$.kind",
            Map.of(
                LineMapping.LineType.TEXT,
                List.of("say"),
                LineMapping.LineType.RESULT,
                List.of("bye")),
            Map.of(
                LineMapping.LineField.TEXT, "$.delta.0.t",
                LineMapping.LineField.RESULT, "$.all",
                LineMapping.LineField.SESSION, "$.s",
                LineMapping.LineField.INPUT_TOKENS, "$.in"));
    var said =
        read(
            new MappedParser(lineMapping),
            List.of(
                "{\"kind\":\"stream_start\"}",
                "{\"kind\":\"say\",\"delta\":[{\"t\":\"Hi\"}]}",
                "{\"kind\":\"say\",\"delta\":[{\"t\":\"\"}]}",
                "{\"kind\":\"tool_use\",\"name\":\"look\",\"arguments\":{\"at\":1}}",
                "{\"kind\":\"tool_result\",\"result\":\"seen\"}",
                "{\"kind\":\"bye\",\"all\":\"Hi\",\"s\":\"s1\",\"in\":5}"));

    assertThat(all(said, ProgramEvent.TextDelta.class))
        .containsExactly(new ProgramEvent.TextDelta(null, "Hi"));
    assertThat(all(said, ProgramEvent.ToolCalled.class).getFirst().id())
        .isEqualTo(all(said, ProgramEvent.ToolEnded.class).getFirst().id());
    assertThat(all(said, ProgramEvent.SessionKnown.class))
        .containsExactly(new ProgramEvent.SessionKnown("s1"));
    assertThat(all(said, ProgramEvent.UsageReported.class).getFirst().usage().inputTokens())
        .isEqualTo(5);
    assertThat(all(said, ProgramEvent.TurnEnded.class))
        .containsExactly(new ProgramEvent.TurnEnded(true, "Hi", null));
  }
}
