/* SPDX-License-Identifier: BSD-2-Clause */
'use strict';(function(){
function show(){var at=document.getElementById(location.hash.slice(1));
 if(at&&at.tagName==='DETAILS'){at.open=true;at.scrollIntoView();}}
addEventListener('hashchange',show);show();
var table=document.getElementById('catalog'),body=table.tBodies[0];
var find=document.getElementById('find');
if(find)find.addEventListener('input',function(){var want=find.value.toLowerCase();
 for(var row of body.rows)
  row.hidden=!row.cells[0].textContent.toLowerCase().includes(want);});
function key(row,i){var cell=row.cells[i],data=cell&&cell.querySelector('data');
 var value=data?JSON.parse(data.getAttribute('value')):cell?cell.textContent:'';
 return value===null?-1:value;}
table.tHead.addEventListener('click',function(event){
 var head=event.target.closest('th');
 if(!head||head.classList.contains('still'))return;
 var i=head.cellIndex,up=!('up' in head.dataset);
 for(var other of table.tHead.rows[0].cells){
  delete other.dataset.up;delete other.dataset.down;}
 head.dataset[up?'up':'down']='';
 var rows=Array.from(body.rows).map(function(row){return[key(row,i),row];});
 rows.sort(function(a,b){var x=a[0],y=b[0];
  return(typeof x===typeof y?(x<y?-1:x>y?1:0):typeof x==='number'?-1:1)*(up?1:-1);});
 rows.forEach(function(row){body.appendChild(row[1]);});});
document.addEventListener('pointermove',function(event){
 var map=event.target.closest&&event.target.closest('svg.heat');if(!map)return;
 var box=map.getBoundingClientRect(),size=map.viewBox.baseVal;
 var x=Math.floor((event.clientX-box.left)/box.width*size.width);
 var y=Math.floor((event.clientY-box.top)/box.height*size.height);
 var fill=map.dataset.fill.split(' ')[y*size.width+x];
 if(fill!==undefined)map.closest('figure').querySelector('output').textContent=
  '\u00b7 part '+(y*size.width+x+1)+': '+(100*fill).toFixed(1)+' %';});
})();
