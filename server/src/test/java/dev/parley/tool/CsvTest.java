package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CsvTest {

  @Test
  void fields_may_be_quoted_and_hold_separators_quotes_and_line_ends() {
    var csv = Csv.parse("a,b\r\n\"x, y\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",z\r\n");

    assertThat(csv.columns()).containsExactly("a", "b");
    assertThat(csv.rows())
        .containsExactly(List.of("x, y", "say \"hi\""), List.of("two\nlines", "z"));
    assertThat(csv.ragged()).isZero();
  }

  @Test
  void nothing_gives_no_columns_and_a_header_alone_no_rows() {
    assertThat(Csv.parse("").columns()).isEmpty();
    assertThat(Csv.parse("\n \n").columns()).isEmpty();
    assertThat(Csv.parse("a,b").columns()).containsExactly("a", "b");
    assertThat(Csv.parse("a,b\n").rows()).isEmpty();
  }

  @Test
  void empty_lines_do_not_count_and_the_last_line_needs_no_end() {
    assertThat(Csv.parse("a\n\n1\n\n\n2").rows()).containsExactly(List.of("1"), List.of("2"));
  }

  @Test
  void empty_fields_are_kept_also_at_the_end() {
    assertThat(Csv.parse("a,b,c\n,,\n1,,").rows())
        .containsExactly(List.of("", "", ""), List.of("1", "", ""));
  }

  @Test
  void ragged_rows_are_kept_and_counted() {
    var csv = Csv.parse("a,b\n1\n1,2,3\n1,2\n");

    assertThat(csv.ragged()).isEqualTo(2);
    assertThat(csv.columns()).containsExactly("a", "b", "column 3");
    assertThat(csv.rows()).hasSize(3);
  }

  @Test
  void columns_get_names_of_their_own() {
    assertThat(Csv.parse("x,,x,file\n").columns())
        .containsExactly("x", "column 2", "x_2", "file_2");
  }

  @Test
  void semicolons_and_tabs_separate_too() {
    assertThat(Csv.parse("a;b\n1,5;2\n").rows()).containsExactly(List.of("1,5", "2"));
    assertThat(Csv.parse("a\tb\n1\t2\n").rows()).containsExactly(List.of("1", "2"));
  }

  @Test
  void a_quote_that_is_never_closed_takes_the_rest() {
    assertThat(Csv.parse("a\n\"open\nend").rows()).containsExactly(List.of("open\nend"));
  }

  @Test
  void a_column_is_numeric_if_it_holds_numbers_and_nothing_else() {
    var csv = Csv.parse("n,mixed,code,none\n1,1,007,\n-2.5,x,008,\n,2,009,\n1e3,3,1,\n");

    assertThat(csv.numbers(0)).hasSize(3);
    assertThat(csv.numbers(1)).isEmpty();
    assertThat(csv.numbers(2)).isEmpty();
    assertThat(csv.numbers(3)).isEmpty();
  }

  @Test
  void a_table_has_numbers_where_the_column_is_numeric_and_says_its_range() {
    var datasetTable = DatasetTable.of("f.csv", Csv.parse("n,t\n1,a\n2,b\n100,\n"));

    assertThat(datasetTable.rows().getLast().toString())
        .isEqualTo("{\"file\":\"f.csv\",\"n\":100,\"t\":\"\"}");
    assertThat(datasetTable.files().getFirst().at("/numeric/n").toString())
        .isEqualTo("{\"min\":1,\"max\":100,\"mean\":34.33333333}");
    assertThat(datasetTable.schema().at("/properties/n/type").asString()).isEqualTo("number");
  }
}
