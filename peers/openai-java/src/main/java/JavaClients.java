import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseRetrieveParams;
import com.openai.models.responses.ResponseStatus;
import com.openai.models.responses.ResponseStreamEvent;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.openai.OpenAiChatOptions;

/// The Java clients of OpenAI's API, unmodified, with the agents of a server as models.
public final class JavaClients {

  private static final String AGENT = "agent-code";
  private static final String USE_WEATHER = "use get_weather {\"city\":\"Oslo\"}";

  private final String url;

  private JavaClients(String url) {
    this.url = url + "/v1";
  }

  /// Runs all clients on the server at the given address.
  public static void main(String[] arguments) throws Exception {
    var clients = new JavaClients(arguments[0]);
    clients.openAi();
    clients.langChain4j();
    clients.springAi();
    System.out.println("ok");
    System.exit(0);
  }

  private static void check(boolean holds, Object seen) {
    if (!holds) {
      throw new AssertionError(String.valueOf(seen));
    }
  }

  // --- openai-java --------------------------------------------------------------------------

  private void openAi() {
    var client = OpenAIOkHttpClient.builder().baseUrl(url).apiKey("any").maxRetries(0).build();
    var models = client.models().list().data().stream().map(model -> model.id()).toList();
    check(models.contains(AGENT), models);
    var completion =
        client
            .chat()
            .completions()
            .create(
                ChatCompletionCreateParams.builder()
                    .model(AGENT)
                    .addUserMessage("count to 3")
                    .build());
    var text = completion.choices().getFirst().message().content().orElseThrow();
    check(text.equals("1 2 3"), text);
    check(completion.usage().orElseThrow().totalTokens() > 0, completion);
    responses(client);
    try {
      client.responses().retrieve("resp_unknown");
      check(false, "an unknown response was found");
    } catch (NotFoundException expected) {
      check(expected.getMessage().contains("not found"), expected);
    }
    try {
      client
          .chat()
          .completions()
          .create(
              ChatCompletionCreateParams.builder().model(AGENT).n(2).addUserMessage("x").build());
      check(false, "n was accepted");
    } catch (BadRequestException expected) {
      check(expected.getMessage().contains("n must be 1"), expected);
    }
    client.close();
  }

  private static void responses(OpenAIClient client) {
    var first =
        client.responses().create(ResponseCreateParams.builder().model(AGENT).input("say one").build());
    check(first.validate().status().orElseThrow().equals(ResponseStatus.COMPLETED), first);
    var second =
        client
            .responses()
            .create(
                ResponseCreateParams.builder()
                    .model(AGENT)
                    .input("calculate 6*7")
                    .previousResponseId(first.id())
                    .build());
    check(text(second.validate()).contains("42"), second);
    check(second.output().stream().anyMatch(item -> item.isMcpCall()), second);
    var events = new ArrayList<ResponseStreamEvent>();
    try (var stream =
        client
            .responses()
            .createStreaming(
                ResponseCreateParams.builder().model(AGENT).input("think about tea").build())) {
      stream.stream().map(ResponseStreamEvent::validate).forEach(events::add);
    }
    var done = events.getLast().asCompleted().response();
    try (var rest =
        client
            .responses()
            .retrieveStreaming(
                ResponseRetrieveParams.builder().responseId(done.id()).startingAfter(4).build())) {
      check(rest.stream().count() == events.size() - 5, events.size());
    }
    client.responses().delete(done.id());
    var slow =
        client
            .responses()
            .create(
                ResponseCreateParams.builder()
                    .model(AGENT)
                    .input("count slowly to 100000")
                    .background(true)
                    .putAdditionalBodyProperty("metadata", JsonValue.from(java.util.Map.of("a", "b")))
                    .build());
    var canceled = client.responses().cancel(slow.id());
    check(canceled.status().orElseThrow().equals(ResponseStatus.CANCELLED), canceled);
  }

  private static String text(Response response) {
    var text = new StringBuilder();
    for (var item : response.output()) {
      item.message()
          .ifPresent(
              message ->
                  message
                      .content()
                      .forEach(part -> part.outputText().ifPresent(out -> text.append(out.text()))));
    }
    return text.toString();
  }

  // --- langchain4j-open-ai ------------------------------------------------------------------

  /// The tools of this client.
  public static final class Weather {

    final List<String> cities = new ArrayList<>();

    /// Says that it snows.
    @Tool(name = "get_weather", value = "The weather of a city")
    @org.springframework.ai.tool.annotation.Tool(
        name = "get_weather",
        description = "The weather of a city")
    public String weather(@P("the city") String city) {
      cities.add(city);
      return "snow";
    }
  }

  /// What the service of LangChain4j implements.
  interface Assistant {
    String chat(String message);
  }

  private void langChain4j() throws Exception {
    var model =
        OpenAiChatModel.builder().baseUrl(url).apiKey("any").modelName(AGENT).maxRetries(0).build();
    check(model.chat("count to 3").equals("1 2 3"), "count");
    var history =
        model.chat(UserMessage.from("say one"), AiMessage.from("one"), UserMessage.from("say two"));
    check(history.aiMessage().text().equals("two"), history);
    check(history.tokenUsage().totalTokenCount() > 0, history);
    var weather = new Weather();
    var service = AiServices.builder(Assistant.class).chatModel(model).tools(weather).build();
    var answer = service.chat(USE_WEATHER);
    check(answer.contains("snow") && weather.cities.equals(List.of("Oslo")), answer);
    var streaming =
        OpenAiStreamingChatModel.builder().baseUrl(url).apiKey("any").modelName(AGENT).build();
    var pieces = new StringBuilder();
    var done = new CompletableFuture<ChatResponse>();
    streaming.chat(
        "count to 4",
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(String piece) {
            pieces.append(piece);
          }

          @Override
          public void onCompleteResponse(ChatResponse response) {
            done.complete(response);
          }

          @Override
          public void onError(Throwable error) {
            done.completeExceptionally(error);
          }
        });
    var response = done.get(60, TimeUnit.SECONDS);
    check(pieces.toString().equals("1 2 3 4"), pieces);
    check(response.aiMessage().text().equals("1 2 3 4"), response);
  }

  // --- spring-ai-openai ---------------------------------------------------------------------

  private void springAi() {
    var model =
        org.springframework.ai.openai.OpenAiChatModel.builder()
            .options(OpenAiChatOptions.builder().baseUrl(url).apiKey("any").model(AGENT).build())
            .build();
    var client = ChatClient.builder(model).build();
    var counted = client.prompt("count to 3").call().content();
    check("1 2 3".equals(counted), counted);
    var weather = new Weather();
    var response = client.prompt(USE_WEATHER).tools(weather).call().chatResponse();
    var answer = response.getResult().getOutput().getText();
    check(answer != null && answer.contains("snow"), response);
    check(weather.cities.equals(List.of("Oslo")), weather.cities);
    var streamed =
        String.join("", client.prompt("count to 4").stream().content().collectList().block());
    check(streamed.equals("1 2 3 4"), streamed);
  }
}
