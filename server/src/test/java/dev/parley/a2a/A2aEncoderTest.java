package dev.parley.a2a;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.protocol.Json;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/// Every encoding can be parsed back.
class A2aEncoderTest {

  private static final Instant TIME = Instant.parse("2026-11-15T02:32:52.682Z");

  static Stream<A2aEncoder> forms() {
    return Stream.of(A2aEncoders.V0_3, A2aEncoders.V0_3_REST, A2aEncoders.V1_0);
  }

  @ParameterizedTest
  @MethodSource("forms")
  void readsEveryItemBack(A2aEncoder form) {
    var message = message();
    var artifact = new A2aArtifact("a1", "out", "what", message.parts(), extra(), List.of("x:y"));
    var status = new A2aStatus(A2aState.INPUT_REQUIRED, message, TIME);
    var items =
        List.of(
            message,
            new A2aTask("t", "c", status, List.of(artifact), List.of(message), extra()),
            new A2aTask("t", "c", status, List.of(), null, null),
            new A2aArtifactUpdate("t", "c", artifact, true, false, extra()),
            new A2aArtifactUpdate("t", "c", artifact, false, true, null));
    for (var item : items) {
      assertThat(A2aParser.item(form.item(item))).isEqualTo(item);
    }
    for (var state : A2aState.values()) {
      var update =
          new A2aStatusUpdate(
              "t", "c", new A2aStatus(state, null, TIME), form != A2aEncoders.V1_0, null);
      assertThat(A2aParser.item(form.item(update))).isEqualTo(update);
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void readsASendBack(A2aEncoder form) {
    var push =
        new PushNotificationConfig("p", null, "http://127.0.0.1/hook", "t", "Bearer", "c", null);
    for (var blocking : List.of(true, false)) {
      var send =
          new SendMessageRequest(
              message(), List.of("text/plain"), 3, blocking, push, extra(), null);
      assertThat(A2aParser.send(form.send(send))).isEqualTo(send);
    }
  }

  @Test
  void writesThePushTargetsOfEachVersion() {
    var push =
        new PushNotificationConfig("p", "t", "http://127.0.0.1/hook", "k", "Bearer", "c", null);
    assertThat(A2aParser.push(A2aEncoders.V1_0.push(push))).isEqualTo(push);
    assertThat(A2aParser.push(A2aEncoders.V0_3.push(push))).isEqualTo(push);
    assertThat(A2aEncoders.V0_3.pushes(List.of(push)).isArray()).isTrue();
    assertThat(A2aEncoders.V1_0.pushes(List.of(push)).path("configs").size()).isEqualTo(1);
  }

  @Test
  void wrapsInZeroThreeWhatIsNoObject() {
    var part = A2aPart.data(Json.mapper().createArrayNode().add(1));
    assertThat(A2aEncoders.V0_3.part(part).toString())
        .isEqualTo("{\"kind\":\"data\",\"data\":{\"value\":[1]}}");
    assertThat(A2aEncoders.V1_0.part(part).toString()).isEqualTo("{\"data\":[1]}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'message':1}",
        "{'message':{'messageId':'m','role':'user'}}",
        "{'message':{'messageId':'m','role':'user','parts':[]}}",
        "{'message':{'messageId':'m','role':'king','parts':[{'text':'x'}]}}",
        "{'message':{'role':'user','parts':[{'text':'x'}]}}",
        "{'message':{'messageId':'m','parts':[{'text':'x'}]}}",
        "{'message':{'messageId':'m','role':'user','parts':[{}]}}",
        "{'message':{'messageId':'m','role':'user','parts':[{'text':7}]}}",
        "{'message':{'messageId':'m','role':'user','parts':{'text':'x'}}}",
        "{'message':{'messageId':'m','role':'user','parts':[{'text':'x'}]},'configuration':{'historyLength':-1}}"
      })
  void refusesWhatIsNoSend(String json) {
    var params = Json.read(json.replace('\'', '"').getBytes(UTF_8), ObjectNode.class);
    assertThatThrownBy(() -> A2aParser.send(params))
        .isInstanceOfSatisfying(
            A2aException.class,
            wrong -> assertThat(wrong.error()).isEqualTo(A2aError.INVALID_PARAMS));
  }

  private static A2aMessage message() {
    return new A2aMessage(
        "m",
        "c",
        "t",
        A2aRole.AGENT,
        List.of(
            A2aPart.text("hello"),
            new A2aPart(new A2aPart.RawContent("AAEC"), "a.bin", "application/x", extra()),
            new A2aPart(new A2aPart.UrlContent("https://example.com/f"), "f", "text/plain", null),
            A2aPart.data(extra())),
        extra(),
        List.of("https://example.com/ext"),
        List.of("t0"));
  }

  private static ObjectNode extra() {
    return Json.object().put("k", "v");
  }
}
