package dev.parley.agent;

import dev.parley.log.ContextState;
import dev.parley.log.ContextState.OpenInput;
import dev.parley.log.OpenTask;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.TaskRun;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Asks the ancestors of a sub-agent its question, nearest first, before a person is asked.
public final class ParentAgentQuestions {

  private static final String INSTRUCTIONS =
      """
      You gave a task to a sub-agent, and it asks you something. If what you were told answers the
      question, answer it. If not, say that you do not know: then a person is asked. Never guess.\
      """;

  private record ParentAgent(TaskId task, AgentTypeId agent, String prompt) {}

  private final Map<AgentTypeId, Model> models;

  /// The models of the agents.
  public ParentAgentQuestions(Map<AgentTypeId, Model> models) {
    this.models = Map.copyOf(models);
  }

  /// Asks one agent after the other until one of them answers. The answers are data: they must be
  /// valid for the question.
  void ask(TaskRun taskRun, String id) throws InterruptedException {
    var input = new InputId(id);
    var asked =
        taskRun.inspect(state -> state.openInput(input)).map(OpenInput::required).orElse(null);
    if (asked == null) {
      return;
    }
    var chain = taskRun.inspect(state -> ancestors(state, taskRun));
    var first = chain.isEmpty() ? null : chain.getFirst().task();
    var metadata = StatusFacts.ofAskingParent(first, input);
    taskRun.emit(List.of(new TaskStatus(TaskState.WAITING_INPUT, null, metadata)));
    taskRun.reachFailPoint("coordinator-asked");
    for (var agent : chain) {
      var answer = ask(taskRun, agent, asked);
      if (answer.isPresent() && taskRun.answer(input, agent.agent(), answer.get())) {
        break;
      }
    }
    taskRun.emit(List.of(new TaskStatus(TaskState.WORKING, null, null)));
  }

  private static List<ParentAgent> ancestors(ContextState state, TaskRun taskRun) {
    var chain = new ArrayList<ParentAgent>();
    for (var task = state.openTask(taskRun.origin().parentTaskId());
        task.isPresent();
        task = task.map(OpenTask::origin).flatMap(o -> state.openTask(o.parentTaskId()))) {
      var open = task.get();
      var prompt = open.created().prompt();
      chain.add(
          new ParentAgent(
              open.origin().taskId(), open.origin().agentId(), prompt == null ? "" : prompt));
    }
    return chain;
  }

  private Optional<JsonNode> ask(TaskRun taskRun, ParentAgent agent, InputRequired asked)
      throws InterruptedException {
    var model = models.get(agent.agent());
    if (model == null) {
      return Optional.empty();
    }
    var said = TextCollector.withoutStatus(taskRun);
    var prompt =
        new Prompt(
            INSTRUCTIONS,
            List.of(
                new PromptPart.PromptMessage(Role.USER, "You were told:\n\n" + agent.prompt()),
                new PromptPart.PromptMessage(Role.USER, question(taskRun, asked))),
            List.of(),
            schema(asked));
    var modelReply = model.ask(prompt, said);
    said.reportUsage(modelReply);
    return modelReply instanceof ModelReply.ModelAnswer ? parse(said.text()) : Optional.empty();
  }

  private static String question(TaskRun taskRun, InputRequired asked) {
    return "The sub-agent "
        + taskRun.origin().agentId()
        + " asks:\n\n"
        + asked.prompt()
        + (asked.options() == null ? "" : "\n\nThe answer must be one of " + asked.options());
  }

  private static ObjectNode schema(InputRequired asked) {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    properties.putObject("known").put("type", "boolean");
    properties.set("answer", asked.schema() instanceof ObjectNode wanted ? wanted : Json.object());
    schema.putArray("required").add("known");
    return schema;
  }

  private static Optional<JsonNode> parse(String text) {
    try {
      var json = Json.read(text.getBytes(StandardCharsets.UTF_8), ObjectNode.class);
      var answer = json.path("answer");
      return json.path("known").asBoolean(false) && !answer.isMissingNode() && !answer.isNull()
          ? Optional.of(answer)
          : Optional.empty();
    } catch (Rejection.Invalid notJson) {
      return Optional.empty();
    }
  }
}
