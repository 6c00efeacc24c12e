package dev.parley.a2a;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
class WireFormTest {

  private static final Instant TIME = Instant.parse("2026-11-15T02:32:52.682Z");

  static Stream<WireForm> forms() {
    return Stream.of(WireForms.V0_3, WireForms.V0_3_REST, WireForms.V1_0);
  }

  @ParameterizedTest
  @MethodSource("forms")
  void readsEveryItemBack(WireForm form) {
    var message = message();
    var artifact = new WireArtifact("a1", "out", "what", message.parts(), extra(), List.of("x:y"));
    var status = new WireStatus(WireState.INPUT_REQUIRED, message, TIME);
    var items =
        List.of(
            message,
            new WireTask("t", "c", status, List.of(artifact), List.of(message), extra()),
            new WireTask("t", "c", status, List.of(), null, null),
            new WireArtifactUpdate("t", "c", artifact, true, false, extra()),
            new WireArtifactUpdate("t", "c", artifact, false, true, null));
    for (var item : items) {
      assertThat(WireReader.item(form.item(item))).isEqualTo(item);
    }
    for (var state : WireState.values()) {
      var update =
          new WireStatusUpdate(
              "t", "c", new WireStatus(state, null, TIME), form != WireForms.V1_0, null);
      assertThat(WireReader.item(form.item(update))).isEqualTo(update);
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void readsASendBack(WireForm form) {
    var push = new PushTarget("p", null, "http://127.0.0.1/hook", "t", "Bearer", "c", null);
    for (var blocking : List.of(true, false)) {
      var send =
          new SendRequest(message(), List.of("text/plain"), 3, blocking, push, extra(), null);
      assertThat(WireReader.send(form.send(send))).isEqualTo(send);
    }
  }

  @Test
  void writesThePushTargetsOfEachVersion() {
    var push = new PushTarget("p", "t", "http://127.0.0.1/hook", "k", "Bearer", "c", null);
    assertThat(WireReader.push(WireForms.V1_0.push(push))).isEqualTo(push);
    assertThat(WireReader.push(WireForms.V0_3.push(push))).isEqualTo(push);
    assertThat(WireForms.V0_3.pushes(List.of(push)).isArray()).isTrue();
    assertThat(WireForms.V1_0.pushes(List.of(push)).path("configs").size()).isEqualTo(1);
  }

  @Test
  void wrapsInZeroThreeWhatIsNoObject() {
    var part = WirePart.data(Json.mapper().createArrayNode().add(1));
    assertThat(WireForms.V0_3.part(part).toString())
        .isEqualTo("{\"kind\":\"data\",\"data\":{\"value\":[1]}}");
    assertThat(WireForms.V1_0.part(part).toString()).isEqualTo("{\"data\":[1]}");
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
    assertThatThrownBy(() -> WireReader.send(params))
        .isInstanceOfSatisfying(
            A2aException.class,
            wrong -> assertThat(wrong.error()).isEqualTo(A2aError.INVALID_PARAMS));
  }

  private static WireMessage message() {
    return new WireMessage(
        "m",
        "c",
        "t",
        WireRole.AGENT,
        List.of(
            WirePart.text("hello"),
            new WirePart(new WirePart.Raw("AAEC"), "a.bin", "application/x", extra()),
            new WirePart(new WirePart.Url("https://example.com/f"), "f", "text/plain", null),
            WirePart.data(extra())),
        extra(),
        List.of("https://example.com/ext"),
        List.of("t0"));
  }

  private static ObjectNode extra() {
    return Json.object().put("k", "v");
  }
}
