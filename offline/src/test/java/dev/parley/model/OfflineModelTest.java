package dev.parley.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.model.Prompt.ToolDescription;
import dev.parley.offline.OfflineModel;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import dev.parley.runtime.RecordingTime;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

class OfflineModelTest {

  private final Model model =
      new OfflineModel(() -> "id", OfflineModel.PACE, new RecordingTime(InstantSource.system()));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '#',
      value = {
        "run ls -l | shell | {\"command\":\"ls -l\"}",
        "please run `echo \"hi.\"` | shell | {\"command\":\"echo \\\"hi.\\\"\"}",
        "Run echo 'a; b'; | shell | {\"command\":\"echo 'a; b';\"}",
        "ask me what is your name? | ask_user | {\"question\":\"what is your name?\"}",
        "sign in to api.example.org. | sign_in | {\"service\":\"api.example.org\"}",
        "write \"hello to you\" to a/b.txt | write_file | {\"path\":\"a/b.txt\",\"content\":\"hello"
            + " to you\\n"
            + "\"}",
        "write hi to the file x.txt. | write_file | {\"path\":\"x.txt\",\"content\":\"hi\\n\"}",
        "fetch https://example.org/a?b=c | fetch | {\"url\":\"https://example.org/a?b=c\"}",
      })
  void a_phrase_calls_its_tool(String text, String tool, String arguments) throws Exception {
    var calls = ask(text, tools("shell", "ask_user", "sign_in", "write_file", "fetch")).calls();

    assertThat(calls).hasSize(1);
    assertThat(calls.getFirst().name()).isEqualTo(tool);
    assertThat(calls.getFirst().arguments().toString()).isEqualTo(arguments);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "run ls",
        "ask me my name",
        "sign in to mail",
        "write x to y",
        "fetch http://x.test/",
        "delegate x to a and b",
        "delegate x to a",
      })
  void without_its_tool_it_says_so(String text) throws Exception {
    assertThat(ask(text, List.of()).said()).contains("I need the tool").contains("do not have it");
  }

  @Test
  void what_came_of_it_is_told() throws Exception {
    var ran = Json.object().put("exitCode", 2).put("output", "a\nb\n");

    assertThat(told("run ls", "shell", true, ran))
        .isEqualTo("`ls` ended with exit code 2:\n\na\nb");
    assertThat(told("run true", "shell", true, Json.object().put("exitCode", 0).put("output", "")))
        .isEqualTo("`true` ended with exit code 0 and said nothing.");
    assertThat(told("ask me x", "ask_user", true, Json.object().put("answer", "y")))
        .isEqualTo("You answered: y");
    assertThat(told("sign in to x", "sign_in", true, Json.object())).contains("signed in to x");
    assertThat(told("write x to y", "write_file", true, Json.object().put("path", "y")))
        .contains("I have written y");
    var page = Json.object().put("status", 200).put("url", "http://x/").put("body", "hi");
    assertThat(told("fetch http://x", "fetch", true, page))
        .isEqualTo("http://x/ answered 200:\n\nhi");
    assertThat(told("run x", "shell", false, StringNode.valueOf("declined")))
        .isEqualTo("That did not work: declined.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "delegate the sums to code and agent-research | agent-code,agent-research",
        "delegate the sums to CODE, Writer, and the research agent. |"
            + " agent-code,writer,agent-research",
        "delegate the sums to writer | writer",
      })
  void several_agents_get_a_batch(String text, String agents) throws Exception {
    var calls = ask(text, List.of(subagents())).calls();

    assertThat(calls.getFirst().name()).isEqualTo("subagents");
    var arguments = calls.getFirst().arguments();
    assertThat(arguments.path("mode").asString()).isEqualTo("parallel");
    assertThat(
            String.join(
                ",",
                arguments
                    .path("tasks")
                    .valueStream()
                    .map(task -> task.path("agentId").asString())
                    .toList()))
        .isEqualTo(agents);
    assertThat(arguments.at("/tasks/0/prompt").asString()).isEqualTo("the sums");
  }

  @Test
  void one_agent_gets_its_own_tool_and_an_unknown_one_is_told() throws Exception {
    var all =
        Stream.concat(tools("agent_agent-code", "agent_writer").stream(), Stream.of(subagents()))
            .toList();

    var call = ask("delegate tests to code", all).calls().getFirst();
    assertThat(call.name()).isEqualTo("agent_agent-code");
    assertThat(call.arguments().toString()).isEqualTo("{\"prompt\":\"tests\"}");
    assertThat(ask("delegate x to nobody and code", all).said())
        .contains("no agent called nobody", "agent-research");
    assertThat(ask("delegate x to nobody", tools("agent_writer")).said()).contains("writer");
  }

  @Test
  void what_agents_did_is_told() throws Exception {
    var results = Json.object();
    var list = results.putArray("results");
    list.addObject().put("agentId", "a").put("status", "completed").put("result", "done");
    list.addObject().put("agentId", "b").put("status", "failed").put("error", "no luck");

    assertThat(told("delegate x to a and b", "subagents", true, results))
        .isEqualTo("a: done\n\nb: no luck");
    assertThat(told("delegate x to a", "agent_a", true, Json.object().put("content", "hello")))
        .isEqualTo("hello");
    assertThat(told("delegate x to a", "agent_a", true, StringNode.valueOf("hello")))
        .isEqualTo("hello");
    assertThat(told("delegate x to a", "agent_a", false, StringNode.valueOf("too deep")))
        .isEqualTo("That did not work: too deep.");
  }

  private record OfflineAnswer(String said, List<ToolCall> calls) {}

  private OfflineAnswer ask(String text, List<ToolDescription> tools) throws InterruptedException {
    return ask(List.of(new PromptPart.PromptMessage(Role.USER, text)), tools);
  }

  private String told(String text, String tool, boolean success, JsonNode result)
      throws InterruptedException {
    var call = new ToolCallId("c");
    var parts =
        List.of(
            new PromptPart.PromptMessage(Role.USER, text),
            new PromptPart.PromptToolCalls(
                "", List.of(new ToolCall(call, tool, Json.object())), null),
            new PromptPart.PromptToolResult(call, tool, success, result));
    return ask(parts, tools(tool)).said();
  }

  private OfflineAnswer ask(List<? extends PromptPart> parts, List<ToolDescription> tools)
      throws InterruptedException {
    var said = new StringBuilder();
    var sink =
        new ModelSink() {
          @Override
          public void text(String piece) {
            said.append(piece);
          }

          @Override
          public void thinking(String piece) {}

          @Override
          public void thought(ModelThought modelThought) {}

          @Override
          public void retry(ModelRetry modelRetry) {}
        };
    var modelReply = model.ask(new Prompt("", new ArrayList<>(parts), tools, null), sink);
    return new OfflineAnswer(said.toString(), ((ModelReply.ModelAnswer) modelReply).calls());
  }

  private static List<ToolDescription> tools(String... names) {
    return Stream.of(names).map(name -> new ToolDescription(name, "", Json.object())).toList();
  }

  private static ToolDescription subagents() {
    ObjectNode schema = Json.object();
    schema
        .putObject("properties")
        .putObject("tasks")
        .putObject("items")
        .putObject("properties")
        .putObject("agentId")
        .putArray("enum")
        .add("agent-code")
        .add("agent-research")
        .add("writer");
    return new ToolDescription("subagents", "", schema);
  }
}
