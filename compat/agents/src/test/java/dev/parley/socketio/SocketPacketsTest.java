package dev.parley.socketio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The codecs of Engine.IO 4 and Socket.IO 5.
class SocketPacketsTest {

  /// Well-formed packets, including the protocol's examples: each is encoded to the same text after
  /// decoding.
  private static final List<String> GOOD =
      List.of(
          "0",
          "0{\"token\":\"x\"}",
          "0/admin,{\"sid\":\"oSO0OpakMV_3jnilAAAA\"}",
          "1",
          "1/admin,",
          "2[\"foo\"]",
          "2[\"foo\",{\"a\":[1,2.50,null,true]}]",
          "2/admin,[\"bar\"]",
          "212[\"foo\"]",
          "2/a-b,7[\"foo\",\"ä€😀,/1-\"]",
          "3/admin,13[\"bar\"]",
          "312[]");

  @Test
  void what_is_well_formed_is_read_and_written_again_as_it_was() {
    for (var text : GOOD) {
      assertThat(SocketIoPacket.decode(text).encode()).isEqualTo(text);
    }
  }

  @Test
  void the_parts_of_a_packet_are_told_apart() {
    assertThat(SocketIoPacket.decode("2/admin,12[\"a\",1]"))
        .isEqualTo(
            new SocketIoPacket(
                SocketIoPacket.Type.EVENT, "/admin", 12L, Json.mapper().readTree("[\"a\",1]")));
    assertThat(SocketIoPacket.decode("1/admin").namespace()).isEqualTo("/admin");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "7",
        "x",
        "-1",
        "2",
        "2{}",
        "2[]",
        "2[1]",
        "2[{}]",
        "2[\"connect\"]",
        "2[\"disconnect\",1]",
        "2[\"a\"",
        "2[\"a\"]]",
        "2\"a\"",
        "0\"a\"",
        "0[]",
        "1{}",
        "3[1]",
        "31{}",
        "4{\"message\":\"x\"}",
        "51-[\"a\",{\"_placeholder\":true,\"num\":0}]",
        "61-1[{\"_placeholder\":true,\"num\":0}]",
        "29999999999999999[\"a\"]",
        "2[\"\\ud800\"]",
        "2/admin[\"a\"]"
      })
  void what_is_not_well_formed_is_refused(String text) {
    assertThatThrownBy(() -> SocketIoPacket.decode(text)).isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void what_is_nested_too_deeply_is_refused() {
    var deep = "2[\"a\"," + "[".repeat(5_000) + "]".repeat(5_000) + "]";
    assertThatThrownBy(() -> SocketIoPacket.decode(deep)).isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void garbage_chopped_and_changed_is_read_or_refused_and_nothing_else() {
    var random = new Random(11);
    for (var i = 0; i < 50_000; i++) {
      var text = new StringBuilder(GOOD.get(random.nextInt(GOOD.size())));
      for (var changes = random.nextInt(4); changes >= 0 && !text.isEmpty(); changes--) {
        var at = random.nextInt(text.length());
        switch (random.nextInt(3)) {
          case 0 -> text.setLength(at);
          case 1 -> text.setCharAt(at, (char) random.nextInt(0x100));
          default -> text.insert(at, (char) ('!' + random.nextInt(90)));
        }
      }
      assertReadOrRefused(text.toString());
    }
  }

  private static void assertReadOrRefused(String text) {
    SocketIoPacket packet;
    try {
      packet = SocketIoPacket.decode(text);
    } catch (Rejection.Invalid refused) {
      return;
    }
    // Decoding an encoded packet gives the same packet.
    assertThat(SocketIoPacket.decode(packet.encode())).isEqualTo(packet);
  }

  @Test
  void bodies_are_cut_at_the_separator_and_nowhere_else() {
    assertThat(EngineIoPacket.decodeAll("42[\"a\"]\u001e3\u001e4\u001e6x"))
        .containsExactly(
            new EngineIoPacket(EngineIoPacket.Type.MESSAGE, "2[\"a\"]"),
            new EngineIoPacket(EngineIoPacket.Type.PONG, ""),
            new EngineIoPacket(EngineIoPacket.Type.MESSAGE, ""),
            new EngineIoPacket(EngineIoPacket.Type.NOOP, "x"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\u001e", "4a\u001e", "\u001e4a", "7", "x", "bAQID", "4a\u001ebAQID"})
  void bodies_with_a_packet_that_is_none_are_refused(String body) {
    assertThatThrownBy(() -> EngineIoPacket.decodeAll(body)).isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void packets_that_are_joined_come_apart_again_however_they_are() {
    var random = new Random(5);
    var types = EngineIoPacket.Type.values();
    for (var i = 0; i < 2_000; i++) {
      var packets = new ArrayList<EngineIoPacket>();
      for (var n = random.nextInt(20); n >= 0; n--) {
        var data = new StringBuilder();
        for (var length = random.nextInt(30); length > 0; length--) {
          data.appendCodePoint(0x20 + random.nextInt(0xd000));
        }
        packets.add(new EngineIoPacket(types[random.nextInt(types.length)], data.toString()));
      }
      var body = String.join("\u001e", packets.stream().map(EngineIoPacket::encode).toList());
      assertThat(EngineIoPacket.decodeAll(body)).isEqualTo(packets);
    }
  }
}
