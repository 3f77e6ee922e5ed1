"""The Ele.me-like text format of the Tianchi contest of 2022 (entrance 532005): one row per food item shown to a user.

A row is a click label, 8 fields of the user, 13 of the item and its shop, 12 ";"-separated lists of what the user clicked before
and 5 fields of the moment. Any field but the label may be empty. Event i of a user stands at place i of every list, the oldest
first. Files are comma or tab separated.
"""

from common.text_format import Format, label, number, numbers, text

LABEL = "label"
USER = ("user_id", "gender", "visit_city", "avg_price", "is_supervip", "ctr_30", "ord_30", "total_amt_30")
ITEM = (
    "shop_id",
    "item_id",
    "city_id",
    "district_id",
    "shop_aoi_id",
    "shop_geohash_6",
    "shop_geohash_12",
    "brand_id",
    "category_1_id",
    "merge_standard_food_id",
    "rank_7",
    "rank_30",
    "rank_90",
)
HISTORY = (
    "shop_id_list",
    "item_id_list",
    "category_1_id_list",
    "merge_standard_food_id_list",
    "brand_id_list",
    "price_list",
    "shop_aoi_id_list",
    "shop_geohash6_list",
    "timediff_list",
    "hours_list",
    "time_type_list",
    "weekdays_list",
)
CONTEXT = ("times", "hours", "time_type", "weekdays", "geohash12")
NUMBERS = ("avg_price", "ctr_30", "ord_30", "total_amt_30", "rank_7", "rank_30", "rank_90")
NUMBER_LISTS = ("price_list", "timediff_list", "hours_list")
SEPARATOR = ";"

# Column of the row -> the list that has what it tells of earlier events: they share a table of embeddings.
LIST_OF = {
    "shop_id": "shop_id_list",
    "item_id": "item_id_list",
    "category_1_id": "category_1_id_list",
    "merge_standard_food_id": "merge_standard_food_id_list",
    "brand_id": "brand_id_list",
    "shop_aoi_id": "shop_aoi_id_list",
    "shop_geohash_6": "shop_geohash6_list",
    "time_type": "time_type_list",
    "weekdays": "weekdays_list",
}
TIME_TYPE = "time_type"
TIME_TYPES = ("lunch", "night", "dinner", "tea", "breakfast")
# Codes of few values; all other categories have as many hash buckets as the model says.
CODES = ("gender", "is_supervip", "hours", "weekdays")
CODE_BUCKETS = 100


def _column(name: str):
    if name in NUMBERS:
        return number(name)
    if name in NUMBER_LISTS:
        return numbers(name, SEPARATOR)
    return text(name, missing="") if name in HISTORY else text(name)


FORMAT = Format(
    name="Ele.me",
    columns=(label(LABEL), *map(_column, (*USER, *ITEM, *HISTORY, *CONTEXT))),
    delimiters=(",", "\t"),
    layout=",".join((LABEL, *USER, *ITEM, *HISTORY, *CONTEXT)),
)
