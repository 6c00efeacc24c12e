package dev.parley.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.model.Prompt.ToolDescription;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The behavior of every model.
abstract class ModelContract {

  /// A tool that the models may call.
  static final ToolDescription CALCULATOR =
      new ToolDescription(
          "calculator",
          "Calculates.",
          Json.object().put("type", "object").set("properties", Json.object()));

  /// Returns a model that answers `count to 3` with numbers, word by word, and `calculate 1+1` with
  /// a call of the calculator, and that takes long for `count slowly to 1000`.
  abstract Model cooperative();

  static Prompt prompt(PromptPart... parts) {
    return new Prompt("Be brief.", List.of(parts), List.of(CALCULATOR), null);
  }

  static PromptPart said(String text) {
    return new PromptPart.PromptMessage(Role.USER, text);
  }

  @Test
  void it_says_its_answer_in_pieces_as_it_goes() throws Exception {
    var collectingSink = new CollectingSink();

    var reply =
        (ModelReply.ModelAnswer) cooperative().ask(prompt(said("count to 3")), collectingSink);

    assertThat(collectingSink.pieces()).hasSizeGreaterThan(1).noneMatch(String::isEmpty);
    assertThat(collectingSink.text()).contains("1").contains("3");
    assertThat(reply.reason()).isEqualTo(FinishReason.STOP);
    assertThat(reply.calls()).isEmpty();
  }

  @Test
  void it_says_what_it_used_under_its_own_name() throws Exception {
    var model = cooperative();

    var reply =
        (ModelReply.ModelAnswer) model.ask(prompt(said("count to 3")), new CollectingSink());

    assertThat(reply.usage().model()).isEqualTo(model.name());
    assertThat(reply.usage().inputTokens()).isPositive();
    assertThat(reply.usage().outputTokens()).isPositive();
  }

  @Test
  void it_asks_for_tools_and_goes_on_with_their_results() throws Exception {
    var model = cooperative();
    var question = said("calculate 1+1");
    var asked = (ModelReply.ModelAnswer) model.ask(prompt(question), new CollectingSink());
    assertThat(asked.reason()).isEqualTo(FinishReason.TOOL_CALLS);
    assertThat(asked.calls()).extracting(ToolCall::name).containsExactly("calculator");

    var call = asked.calls().getFirst();
    var value = Json.object().put("expression", "1+1").put("value", "2");
    var collectingSink = new CollectingSink();
    var modelReply =
        model.ask(
            prompt(
                question,
                new PromptPart.PromptToolCalls("", asked.calls(), asked.memo()),
                new PromptPart.PromptToolResult(call.id(), call.name(), true, value)),
            collectingSink);

    assertThat(((ModelReply.ModelAnswer) modelReply).calls()).isEmpty();
    assertThat(collectingSink.text()).contains("2");
  }

  @Test
  void an_interrupt_ends_the_question() throws Exception {
    var model = cooperative();
    var collectingSink = new CollectingSink();
    var ended = new ArrayBlockingQueue<String>(1);
    var asking =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    ended.add(
                        "answered "
                            + model.ask(prompt(said("count slowly to 1000")), collectingSink));
                  } catch (InterruptedException stopped) {
                    ended.add("interrupted");
                  }
                });
    collectingSink.await();

    asking.interrupt();

    assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo("interrupted");
  }

  @Test
  void many_threads_may_ask_at_once() throws Exception {
    var model = cooperative();
    var results = new ArrayBlockingQueue<String>(20);
    var threads = new ArrayList<Thread>();
    IntStream.range(0, 20)
        .forEach(
            _ ->
                threads.add(
                    Thread.ofVirtual()
                        .start(
                            () -> {
                              var collectingSink = new CollectingSink();
                              try {
                                var modelReply =
                                    model.ask(prompt(said("count to 3")), collectingSink);
                                results.add(
                                    modelReply instanceof ModelReply.ModelAnswer
                                        ? collectingSink.text()
                                        : "" + modelReply);
                              } catch (InterruptedException never) {
                                results.add("interrupted");
                              }
                            })));
    for (var thread : threads) {
      thread.join();
    }

    assertThat(results).hasSize(20).allMatch(text -> text.contains("3"));
  }
}
